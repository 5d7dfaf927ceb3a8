// Config files as a whole: accepted text, errors, and their locations.
#include <doctest/doctest.h>

#include "parse.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("the smallest config file has one list with an executor") {
  const Config config =
      parse("[lists.work]\nexecutor = \"/opt/acme/bin/resize\"\nconcurrency = 4\n");
  CHECK(config.redis == RedisSettings{});
  CHECK(config.supervisor.host == "here");
  CHECK(config.supervisor.status == Lines{"unix:/run/w8y/w8yd.sock"});
  CHECK(config.warnings.empty());
  REQUIRE(config.lists.size() == 1);
  ListConfig expected;
  expected.prefix = "work";
  expected.executor = "/opt/acme/bin/resize";
  expected.concurrency = 4;
  CHECK(*config.lists.at("work") == expected);
}

TEST_CASE("all errors are reported together with their locations, in the order of the file") {
  const Lines lines = errors_in(
      "[redis]\n"
      "url = \"http://x\"\n"
      "conect_timeout = \"5s\"\n"
      "[supervisor]\n"
      "log_level = \"loud\"\n"
      "[lists.work]\n"
      "  concurrency =   -1\n"
      "command = [\"a\"]\n"
      "executor = \"/bin/x\"\n"
      "backoff = { min = \"1h\", fcator = 0.5 }\n"
      "[lists.\"a b\"]\n"
      "timeout = \"soon\"\n");
  CHECK(lines ==
        Lines{"c:2:7: redis.url: is not a Redis URL; must be redis://[user[:password]@]host[:port]"
              "[/db] (rediss:// with TLS), unix:///path.sock[?db=N], "
              "redis+sentinel://host[:port][,…]/service[/db] or redis+cluster://host[:port][,…]",
              "c:3:1: redis.conect_timeout: is not a known key; did you mean "
              "\"connect_timeout\"?",
              "c:5:13: supervisor.log_level: is \"loud\"; must be \"trace\", \"debug\", \"info\", "
              "\"warn\" or \"error\"",
              "c:7:19: lists.work.concurrency: is -1; must be an integer from 0 to 100000",
              "c:8:1: lists.work.command: is set together with executor; a list has either an "
              "executor or a command",
              "c:10:25: lists.work.backoff.fcator: is not a known key; did you mean \"factor\"?",
              "c:11:8: lists.\"a b\": has neither executor nor command; must have executor = "
              "\"/absolute/path\", or command = [\"program\", \"{}\"]",
              "c:12:11: lists.\"a b\".timeout: is \"soon\"; must be a duration such as \"250ms\", "
              "\"5s\" or \"1h30m\", or a number of seconds"});
}

TEST_CASE("the error for a renamed key gives its current name") {
  const Lines lines = errors_in(
      "[supervisor]\n"
      "max_processes = 4\n"
      "status_names = [\"a\"]\n"
      "[lists.work]\n"
      "command = [\"a\"]\n"
      "visit_within = \"1h\"\n"
      "[hosts.\"*\"]\n"
      "max_processes = 2\n");
  CHECK(lines == Lines{"c:2:1: supervisor.max_processes: is now \"host_concurrency\"",
                       "c:3:1: supervisor.status_names: is now \"status_allowed_hosts\"",
                       "c:6:1: lists.work.visit_within: is now \"overdue_after\"",
                       "c:8:1: hosts.\"*\".max_processes: is now \"host_concurrency\""});
}

TEST_CASE("what() of a config error has one line per error") {
  FakeHost host;
  try {
    parse_config("a = 1\nb = 2\n", "c", host);
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(error.errors().size() == 2);
    CHECK(std::string(error.what()) ==
          error.errors()[0].to_string() + "\n" + error.errors()[1].to_string());
  }
}

TEST_CASE("text that is not TOML in UTF-8 is one error with its location") {
  const std::pair<std::string, const char*> cases[] = {
      {"a = \n", "c:1:5: is not valid TOML: "},
      {"[lists.w]\nconcurrency = 5s\n", "c:2:"},
      {"[redis]\n[redis]\n", "c:2:"},
      {"[redis]\nurl = \"a\"\nurl = \"b\"\n", "c:3:"},
      {"a = \"\xff\"\n", "c:1:5: is not valid TOML: "},
      {"umask = 022\n", "c:1:"},
      {std::string("a = 1\nb\0 = 2", 12), "c:2:2: has a NUL byte"},
      {std::string("\x7f"
                   "ELF\0\0\1",
                   7),
       "c:1:5: has a NUL byte"},
      {"a = [", "c:1:"},
      {"enabled = tr\ne\n", "c:1:"},
      {"ö = 1\n", "c:1:1: is not valid TOML: characters other than ASCII are allowed only in"},
      {"# ö\n[lists.größe]\n", "c:2:10: is not valid TOML: characters other than ASCII"},
      {"\xef\xbb\xbf[redis]\nurl = ö", "c:2:7: is not valid TOML: characters"},
      {"x = 1ﳿ\n", "c:1:6: is not valid TOML: "},
      {"[redis]\n[&", "c:2:2: is not valid TOML: unexpected character"},
      {"x = 1\n[lists]\n[[[lists.w]]]\ny = 2\n", "c:3:3: is not valid TOML: "},
      {"[/lists.w]\n", "c:1:2: is not valid TOML: "},
      {"a = 99999999999999999999", "c:1:"},
  };
  for (const auto& one : cases) {
    const auto& text = one.first;
    const auto& start = one.second;
    CAPTURE(text);
    const Lines lines = errors_in(text);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with(start));
    CHECK_FALSE(has(lines[0], "\n"));
  }
}

TEST_CASE("deeply nested config is refused before it overflows the stack") {
  std::string dots = "a";
  for (int i = 0; i < 200'000; ++i) dots += ".a";
  for (const std::string& text :
       {dots + " = 1", "[" + dots + "]", "x = { " + dots + " = 1 }",
        "y = [\n1.0, {" + dots + "=1}]", "x = [\"\"\"a\"\"\"\"\", {" + dots + " = 1 }]",
        "x = ['''''',{" + dots + "=1}]"}) {
    const Lines lines = errors_in(text);
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], "too many parts"));
  }
  const Lines lines = errors_in("a = " + std::string(100'000, '['));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("c:1:"));
  // Dots in strings and comments do not separate keys.
  const std::string many(1000, '.');
  CHECK(errors_in("# " + many + "\n" +
                  list_with("args = [\"" + many + "\\\"" + many + "\", '" + many + "']"))
            .empty());
}

TEST_CASE("an empty config file is valid, with a warning") {
  for (const char* text : {"", "\n", "# nothing\n", "\xef\xbb\xbf", "[lists]\n"}) {
    const Config config = parse(text);
    CHECK(config.lists.empty());
    CHECK(config.warnings == Lines{"c: no lists: nothing to do"});
  }
}

TEST_CASE("sections and lists of a wrong type are errors") {
  CHECK(errors_in("redis = 1\nsupervisor = []\ndefaults = \"x\"\nlists = true\n") ==
        Lines{"c:1:9: redis: is 1; must be a table",
              "c:2:14: supervisor: is an array; must be a table",
              "c:3:12: defaults: is \"x\"; must be a table",
              "c:4:9: lists: is true; must be a table"});
  CHECK(errors_in("[[lists]]\n").size() == 1);
  CHECK(errors_in("[[lists.w]]\nexecutor = \"/x\"\n") ==
        Lines{"c:1:1: lists.w: is an array; must be a table"});
  CHECK(errors_in("[lists]\nw = \"/bin/x\"\n") ==
        Lines{"c:2:5: lists.w: is \"/bin/x\"; must be a table"});
}

TEST_CASE("a key in the wrong section is an error that names the right section") {
  CHECK(errors_in("concurrency = 4\n") ==
        Lines{"c:1:1: concurrency: is in the wrong table; it is a key of [lists.PREFIX] and "
              "[defaults]"});
  CHECK(errors_in("[supervisor]\nurl = \"redis://x\"\n") ==
        Lines{"c:2:1: supervisor.url: is in the wrong table; it is a key of [redis]"});
  CHECK(errors_in("[redis]\ninclude = []\n") ==
        Lines{"c:2:1: redis.include: is in the wrong table; it is a key of the top level"});
  CHECK(errors_in("[list.work]\nexecutor = \"/x\"\n") ==
        Lines{"c:1:2: list: is not a known key; did you mean \"lists\"?"});
}

TEST_CASE("the error for a duration or size without quotes shows it with quotes") {
  const std::pair<const char*, const char*> cases[] = {
      {"timeout = 10s", "durations need quotes: \"10s\""},
      {"timeout = 1h30m # long", "durations need quotes: \"1h30m\""},
      {"backoff = { min = 250ms, max = \"1m\" }", "durations need quotes: \"250ms\""},
      {"max_line = 64KiB", "sizes need quotes: \"64KiB\""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.first);
    const Lines lines = errors_in(list_with(each.first));
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], "c:3:"));
    CHECK(has(lines[0], each.second));
  }
  for (const char* line : {"timeout = 10x", "timeout = s10", "timeout = 10 s"}) {
    CAPTURE(line);
    const Lines lines = errors_in(list_with(line));
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], "is not valid TOML"));
  }
}

TEST_CASE("an unknown key is an error that suggests the nearest key") {
  const std::pair<const char*, const char*> cases[] = {
      {"concurency", "concurrency"},
      {"conucrrency", "concurrency"},
      {"kill-grace", "kill_grace"},
      {"keyexpiry", "key_expiry"},
      {"exit_codes", "success_exit_codes"},
      {"expiry", "key_expiry"},
      {"max_failure", "max_failures"},
      {"Enabled", "enabled"},
      {"executer", "executor"},
      {"max_procs", "host_concurrency"},
  };
  for (const auto& [wrong, right] : cases) {
    const Lines lines = errors_in(list_with(std::string(wrong) + " = 1"));
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] == std::string("c:3:1: lists.w.") + wrong +
                          ": is not a known key; did you mean \"" + right + "\"?");
  }
  for (const char* far : {"retries", "colour", "x", "max_speed_of_light"})
    CHECK(errors_in(list_with(std::string(far) + " = 1")) ==
          Lines{std::string("c:3:1: lists.w.") + far + ": is not a known key; see w8y.toml(5)"});
  const Lines lines = errors_in(list_with(std::string(100'000, 'k') + " = 1"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() < 200);
}

TEST_CASE("the error for an invalid status address describes a valid address") {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {":9158", "is \":9158\"; must have an IP address: \"127.0.0.1:9158\""},
      {"localhost:9158", "must have an IP address of this host, not a name"},
      {"::1:9158", "must have its IPv6 address in brackets: \"[::1]:9158\""},
      {"[127.0.0.1]:9158", "must have an IP address of this host, not a name"},
      {"127.0.0.1:0", "must have a port from 1 to 65535"},
      {"127.0.0.1:65536", "must have a port from 1 to 65535"},
      {"127.0.0.1:080", "must have a port from 1 to 65535"},
      {"127.0.0.1:", "must be \"unix:/path\", \"127.0.0.1:9158\" or \"[::1]:9158\""},
      {"127.0.0.1", "must be \"unix:/path\", \"127.0.0.1:9158\" or \"[::1]:9158\""},
      {"http://127.0.0.1:9158", "for TLS, use a reverse proxy"},
      {"tcp:127.0.0.1:9158", "for TLS, use a reverse proxy"},
      {"unix:w8yd.sock", "must be \"unix:\" and an absolute path"},
  };
  for (const auto& [address, right] : rows) {
    const std::string text = address;
    CAPTURE(text);
    const Lines lines = errors_in("[supervisor]\nstatus = [\"" + text + "\"]\n");
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], right));
  }
  const Lines twice =
      errors_in("[supervisor]\nstatus = [\"127.0.0.1:9158\", \"127.0.0.1:9158\"]\n");
  REQUIRE(twice.size() == 1);
  CHECK(has(twice[0], "status[1]: is listed twice"));
}

TEST_CASE("keys of TLS and sentinels are errors without a matching URL") {
  for (const char* key : {"tls_ca", "tls_cert", "tls_key", "tls_server_name"}) {
    const Lines lines = errors_in("[redis]\n" + std::string(key) + " = \"/x\"\n");
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], "must be used with a rediss:// URL"));
  }
  CHECK(has(errors_in("[redis]\nsentinel_password_file = \"/x\"\n").at(0),
            "must be used with a redis+sentinel:// URL"));
  CHECK(has(errors_in("[redis]\nurl = \"rediss://h\"\ntls_key = \"/x\"\n").at(0),
            "must be used with tls_cert"));
  CHECK(errors_in("[redis]\nurl = \"rediss+sentinel://h/s\"\ntls_ca = \"/x\"\n"
                  "tls_cert = \"/x\"\ntls_key = \"/x\"\ntls_server_name = \"h\"\n"
                  "sentinel_password_file = \"/x\"\n")
            .empty());
}

TEST_CASE("a user in the config is a warning if w8yd does not run as root") {
  FakeHost host;
  CHECK(parse_config(list_with("user = \"nobody\""), "c", host).warnings.empty());
  host.root = false;
  CHECK(parse_config(list_with("user = \"nobody\""), "c", host).warnings.size() == 1);
}

TEST_CASE("the default status address depends on the user and the runtime directory") {
  struct Case {
    bool root;
    const char* runtime_directory;
    const char* xdg_runtime_dir;
    const char* expected;
  };
  const Case cases[] = {
      {true, "/x", "/y", "unix:/run/w8y/w8yd.sock"},
      {true, "", "", "unix:/run/w8y/w8yd.sock"},
      {false, "", "", "unix:/run/w8y/w8yd.sock"},
      {false, "", "/run/user/7", "unix:/run/user/7/w8y/w8yd.sock"},
      {false, "/tmp/r", "/run/user/7", "unix:/tmp/r/w8y/w8yd.sock"},
      {false, "/run/w8y", "/run/user/7", "unix:/run/w8y/w8yd.sock"},
      {false, "/run/w8y:/run/other", "", "unix:/run/w8y/w8yd.sock"},
      {false, "/tmp/r/", "", "unix:/tmp/r/w8y/w8yd.sock"},
      {false, "relative", "", "unix:/run/w8y/w8yd.sock"},
  };
  for (const Case& one : cases) {
    FakeHost host;
    host.root = one.root;
    host.variables = {{"RUNTIME_DIRECTORY", one.runtime_directory},
                      {"XDG_RUNTIME_DIR", one.xdg_runtime_dir}};
    CHECK(default_status(host) == one.expected);
    CHECK(parse_config("", "c", host).supervisor.status == Lines{one.expected});
  }
  CHECK(parse("[supervisor]\nstatus = []\n").supervisor.status.empty());
}
