// Config keys one by one: default, valid values and invalid values.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/config.hpp"
#include "fake_host.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace config_keys_test {
namespace {

struct Values {
  std::string section;
  std::string key;
  Lines right;  ///< in TOML
  Lines wrong;
};

/// Returns the settings that a list needs before it may have `key`.
std::string kind_for(const std::string& key) {
  if (key == "queues") return "source = \"schedule\"\n";
  if (key == "dispatch" || key == "on_failure" || key == "catch_up" || key == "timefile" ||
      key == "key_prefix")
    return "source = \"schedule\"\nqueues = \"A\"\n";
  if (key == "claim_timeout" || key == "maintenance_interval" || key == "maintenance_feed")
    return "source = \"job\"\n";
  if (key == "function") return "source = \"gearman\"\n[gearman]\nservers = [\"h\"]\n";
  return "";
}

const Lines wrong_flags = {"1", "\"true\"", "[]", "{}", "0.0", "1979-05-27"};
const Lines wrong_durations = {"-1",         "-0.5",    "nan",        "inf",     "\"\"",
                               "\"5 s\"",    "\"-5s\"", "true",       "[]",      "{}",
                               "1979-05-27", "1e30",    "4000000000", "\"101y\""};
const Lines wrong_sizes = {"-1", "1.5", "\"1.5MiB\"", "\"\"", "\"1K\"", "true", "[]", "{}"};
const Lines wrong_texts = {"1", "true", "[]", "{}", "\"\"", "\"a\\u0000b\"", "1.5", "07:32:00"};
const Lines wrong_arrays = {"1",   "\"a\"",      "true",      "{}",
                            "[1]", "[\"a\", 2]", "[[\"a\"]]", "[\"a\\u0000\"]"};
const Lines wrong_counts = {"-1", "1.0", "\"1\"", "true", "[]", "{}", "nan", "9223372036854775807"};

Lines with(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

const std::vector<Values>& all_values() {
  static const std::vector<Values> values = {
      {"redis",
       "url",
       {"\"redis://u:p@h:1/2\"", "\"unix:///run/redis.sock?db=1\"", "\"rediss://x\"",
        "\"redis+sentinel://a,b/s\"", "\"redis+cluster://a\""},
       with(wrong_texts, {"\"localhost\"", "\"http://x\"", "\"redis:x\"", "\"redis+ring://x\""})},
      {"redis", "password_file", {"\"/x\""}, with(wrong_texts, {"\"x\"", "\"~/x\""})},
      {"redis", "sentinel_password_file", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"redis", "tls_ca", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"redis", "tls_cert", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"redis", "tls_key", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"redis", "tls_server_name", {"\"h\""}, wrong_texts},
      {"redis",
       "connect_timeout",
       {"\"1ms\"", "3", "0.5"},
       with(wrong_durations, {"0", "\"1us\""})},
      {"redis",
       "command_timeout",
       {"\"1ms\"", "3", "0.5"},
       with(wrong_durations, {"0", "\"1us\""})},
      {"redis", "idle_commands", {"1", "1000000"}, with(wrong_counts, {"0", "1000001"})},

      {"gearman",
       "servers",
       {"[]", "[\"localhost\"]",
        "[\"a:1\", \"b.example.org:65535\", \"10.0.0.1\", \"[::1]\", "
        "\"[fe80::1]:4731\"]"},
       with(wrong_arrays,
            {"[\"\"]", "[\":4730\"]", "[\"a:\"]", "[\"a:0\"]", "[\"a:65536\"]", "[\"a:4730x\"]",
             "[\"::1\"]", "[\"[::1\"]", "[\"[::1]4730\"]", "[\"[]:1\"]", "[\"a b\"]",
             "[\"tcp://a\"]", "[\"u@a\"]", "[\"a\", \"a:4730\"]"})},
      {"gearman", "connect_timeout", {"\"1ms\"", "3"}, with(wrong_durations, {"0", "\"1us\""})},

      {"supervisor",
       "host",
       {"\"a.b-c_1\"", "\"höst\""},
       with(wrong_texts, {"\"a:b\"", "\"a b\"", "\"a\\n\"", "\"" + std::string(256, 'x') + "\""})},
      {"supervisor", "fleet", {"\"f\"", "\"a b\""}, wrong_texts},
      {"supervisor",
       "status",
       {"[]", "[\"unix:/a\", \"unix:/b\"]",
        "[\"unix:/a\", \"127.0.0.1:9158\", \"[::1]:9158\", \"0.0.0.0:1\", \"[::]:65535\"]"},
       with(wrong_arrays, {"[\"/a\"]", "[\"unix:a\"]", "[\"unix:\"]", "[\":80\"]", "[\"h:80\"]",
                           "[\"\"]", "[\"unix:/" + std::string(107, 'x') + "\"]"})},
      {"supervisor", "status_token_file", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"supervisor",
       "status_allowed_hosts",
       {"[]", "[\"w8y.example.org\", \"w8y\"]"},
       with(wrong_arrays, {"[\"\"]", "[\"http://a\"]", "[\"a:80\"]", "[\"a b\"]", "[\".a\"]"})},
      {"supervisor",
       "log_level",
       {"\"trace\"", "\"debug\"", "\"info\"", "\"warn\"", "\"error\""},
       with(wrong_texts, {"\"INFO\"", "\"warning\""})},
      {"supervisor",
       "log_format",
       {"\"text\"", "\"logfmt\"", "\"json\""},
       with(wrong_texts, {"\"JSON\""})},
      {"supervisor", "log_file", {"\"/var/log/x\""}, with(wrong_texts, {"\"x\""})},
      {"supervisor", "drain_timeout", {"0", "\"1h\""}, wrong_durations},
      {"supervisor", "probe_timeout", {"\"1s\""}, with(wrong_durations, {"0"})},
      {"supervisor", "probe_interval", {"0", "\"1h\""}, wrong_durations},
      {"supervisor", "host_concurrency", {"0", "1000000"}, with(wrong_counts, {"1000001"})},

      {"lists", "args", {"[]", "[\"\", \"-v\"]"}, wrong_arrays},
      {"lists", "mode", {"\"auto\"", "\"single\"", "\"stream\""}, with(wrong_texts, {"\"x\""})},
      {"lists", "requires", {"[]", "[\"gpu\"]"}, with(wrong_arrays, {"[\"\"]"})},
      {"lists", "concurrency", {"0", "100000"}, with(wrong_counts, {"100001"})},
      {"lists", "fleet_concurrency", {"0", "1000000"}, with(wrong_counts, {"1000001"})},
      {"lists", "weight", {"1", "1000000"}, with(wrong_counts, {"0", "1000001"})},
      {"lists", "enabled", {"true", "false"}, wrong_flags},
      {"lists", "source", {"\"circular\"", "\"job\""}, with(wrong_texts, {"\"x\""})},
      {"lists",
       "queues",
       {"\"A\"", "\"A:A:B\"", "\"a b:ü\""},
       with(wrong_texts, {"\":\"", "\"A:\"", "\":A\"", "\"A::B\"", "\"members\"", "\"A:B-members\"",
                          "\"A-A\""})},
      {"lists", "key_prefix", {"\"bike\"", "\"bike:\"", "\"ü\""}, with(wrong_texts, {"\":\""})},
      {"lists", "dispatch", {"true", "false"}, wrong_flags},
      {"lists",
       "on_failure",
       {"\"die\"", "\"reschedule\"", "\"backoff\""},
       with(wrong_texts, {"\"Die\""})},
      {"lists", "catch_up", {"\"one\"", "\"all\"", "\"none\""}, with(wrong_texts, {"\"two\""})},
      {"lists", "timefile", {"\"/var/lib/x\""}, with(wrong_texts, {"\"x\""})},
      {"lists",
       "function",
       {"\"resize\"", "\"a::b c\"", "\"" + std::string(512, 'x') + "\""},
       with(wrong_texts, {"\"" + std::string(513, 'x') + "\""})},
      {"lists", "claim_timeout", {"0", "\"1h\""}, wrong_durations},
      {"lists", "maintenance_interval", {"1", "\"1h\""}, with(wrong_durations, {"0", "\"999ms\""})},
      {"lists", "maintenance_feed", {"\"ops\"", "\"a b\""}, wrong_texts},
      {"lists",
       "key_expiry",
       {"1", "\"1s\"", "\"1h\""},
       with(wrong_durations, {"0", "0.999", "\"999ms\""})},
      {"lists", "lock_key", {"\"lock\"", "\"proc\""}, with(wrong_texts, {"\"lok\""})},
      {"lists", "on_lease_loss", {"\"continue\"", "\"terminate\""}, with(wrong_texts, {"\"x\""})},
      {"lists", "timeout", {"0", "\"1h\""}, wrong_durations},
      {"lists", "progress_timeout", {"0", "\"1h\""}, wrong_durations},
      {"lists", "kill_grace", {"0", "\"1h\""}, wrong_durations},
      {"lists", "cooldown", {"0", "\"1h\""}, wrong_durations},
      {"lists", "overdue_after", {"0", "\"10m\""}, wrong_durations},
      {"lists",
       "backoff",
       {"false", "{}", "{ min = 1, max = 1, factor = 1 }", "{ factor = 1.5 }"},
       {"true", "1", "\"1s\"", "[]", "{ min = 0 }", "{ min = \"10m\" }", "{ max = \"0.5s\" }",
        "{ factor = 0.99 }", "{ factor = nan }", "{ factor = inf }", "{ factor = \"2\" }",
        "{ factor = -1 }", "{ min = true }", "{ mni = 1 }", "{ factor = 1000.5 }"}},
      {"lists",
       "breaker",
       {"false", "\"80% of 20\"", "\"1% of 2\"", "\"100% of 1000\""},
       with(wrong_texts,
            {"\"80%\"", "\"0% of 20\"", "\"101% of 20\"", "\"80% of 1\"", "\"80% of 1001\"",
             "\"80% of\"", "\"80.5% of 20\"", "\"80 of 20\"", "\"80% of 20 \""})},
      {"lists",
       "alert_failures",
       {"\"0%\"", "\"100%\""},
       {"\"101%\"", "\"10\"", "\"%\"", "\"-1%\"", "\"1.5%\"", "10", "true"}},
      {"lists", "max_failures", {"0", "1000000000"}, with(wrong_counts, {"1000000001"})},
      {"lists",
       "success_exit_codes",
       {"[0]", "[255, 3, 0, 3]"},
       {"0", "[]", "[256]", "[-1]", "[\"0\"]", "[0.0]", "{}", "true"}},
      {"lists",
       "env",
       {"{}", "{ A = \"1\", _b2 = \"\", C = \"ü\\n\" }"},
       {"1", "[]", "\"A=1\"", "{ A = 1 }", "{ A = true }", "{ \"A-B\" = \"\" }", "{ 2A = \"\" }",
        "{ \"\" = \"\" }", "{ \"A=\" = \"\" }", "{ W8Y_ITEM = \"\" }", "{ A = \"\\u0000\" }",
        "{ A.b = \"\" }"}},
      {"lists",
       "env_pass",
       {"[]", "[\"*\"]", "[\"PATH\", \"A_1\"]"},
       with(wrong_arrays, {"[\"A-B\"]", "[\"A*\"]", "[\"\"]", "[\"A=1\"]"})},
      {"lists", "env_file", {"\"/x\""}, with(wrong_texts, {"\"x\""})},
      {"lists",
       "env_var",
       {"\"ITEM\"", "\"_\""},
       with(wrong_texts, {"\"1\"", "\"A-B\"", "\"W8Y_X\"", "\"A=\""})},
      {"lists", "cwd", {"\"/\"", "\"temp\"", "\"/a b\""}, with(wrong_texts, {"\"x\"", "\"Temp\""})},
      {"lists",
       "user",
       {"\"nobody\"", "1000", "\"1000\"", "\"not_on_this_host\""},
       {"-1", "1.0", "true", "[]", "{}", "\"\"", "4294967295", "\"a\\u0000\""}},
      {"lists",
       "group",
       {"\"nogroup\"", "1000", "\"1000\"", "\"not_on_this_host\""},
       {"-1", "1.0", "true", "[]", "{}", "\"\"", "4294967295", "\"a\\u0000\""}},
      {"lists",
       "umask",
       {"\"022\"", "0o022", "\"0\"", "\"0777\"", "\"00077\"", "0"},
       {"-1", "0o1000", "\"\"", "\"1000\"", "\"088\"", "\"0o22\"", "\"u=rwx\"", "true", "1.0",
        "\"000000022\"", "[]"}},
      {"lists", "nice", {"-20", "19", "0"}, {"-21", "20", "1.0", "\"1\"", "true", "[]"}},
      {"lists",
       "rlimits",
       {"{}", "{ nofile = 1024, as = \"2GiB\", core = 0, cpu = \"1h\" }",
        "{ nofile = \"unlimited\" }", "{ cpu = 60, rttime = \"1us\", memlock = 65536, nice = 20 }"},
       {"1", "[]", "\"nofile=1\"", "{ nofile = -1 }", "{ nofile = \"1024\" }", "{ nofile = 1.0 }",
        "{ as = \"2 GiB\" }", "{ as = -1 }", "{ cpu = \"500ms\" }", "{ cpu = -1 }",
        "{ nofiles = 1 }", "{ RLIMIT_AS = 1 }", "{ core = \"Unlimited\" }", "{ core = true }"}},
      {"lists", "memory_max", {"1048576", "\"2GiB\""}, with(wrong_sizes, {"0", "\"1023KiB\""})},
      {"lists", "cpu_weight", {"1", "10000"}, {"0", "10001", "-1", "1.0", "\"1\"", "true", "[]"}},
      {"lists", "no_new_privs", {"true", "false"}, wrong_flags},
      {"lists", "max_line", {"1", "\"64KiB\"", "\"1GiB\""}, with(wrong_sizes, {"0", "\"2GiB\""})},
      {"lists", "stderr_tail", {"0", "\"64MiB\""}, with(wrong_sizes, {"\"65MiB\""})},
      {"lists", "keep_output", {"true", "false"}, wrong_flags},
      {"lists",
       "result",
       {"\"none\"", "\"stdout\"", "\"json\""},
       {"\"\"", "\"JSON\"", "\"stderr\"", "true", "1", "[]"}},
      {"lists", "max_result", {"1", "\"16MiB\""}, with(wrong_sizes, {"0", "\"17MiB\""})},
      {"lists", "history", {"0", "1000000"}, with(wrong_counts, {"1000001"})},
      {"lists",
       "history_bytes",
       {"1024", "\"1GiB\""},
       with(wrong_sizes, {"0", "1023", "\"2GiB\""})},
      {"lists", "failed_history", {"0", "1000000"}, with(wrong_counts, {"1000001"})},
      {"lists", "failed_for", {"60", "\"1m\"", "\"30d\""}, with(wrong_durations, {"0", "\"59s\""})},
      {"lists",
       "failed_history_bytes",
       {"1024", "\"1GiB\""},
       with(wrong_sizes, {"0", "1023", "\"2GiB\""})},
      {"lists", "processes", {"1", "100000"}, with(wrong_counts, {"0", "100001"})},
      {"lists", "max_items", {"0", "1000000000"}, with(wrong_counts, {"1000000001"})},
      {"lists", "max_age", {"0", "\"1h\""}, wrong_durations},
  };
  return values;
}

struct Written {
  std::string text;
  std::string path;  ///< name of the key in error messages
};

/// Returns the program of a list to which the key applies.
std::string program_for(const std::string& key) {
  return key == "result" || key == "max_result" ? "command = [\"/bin/x\", \"{}\"]\n"
                                                : "executor = \"/bin/x\"\n";
}

Written write(const std::string& section, const std::string& key, const std::string& value) {
  const std::string line = key + " = " + value + "\n";
  if (section == "lists")
    return {"[lists.w]\n" + program_for(key) + line + kind_for(key), "lists.w." + key};
  // The keys of TLS and sentinels are valid only with a URL that uses them.
  std::string url;
  if (key.starts_with("tls_") || key.starts_with("sentinel_"))
    url = "url = \"rediss+sentinel://h/s\"\n";
  if (key == "tls_key") url += "tls_cert = \"/x\"\n";
  return {"[" + section + "]\n" + line + url, section + "." + key};
}

ConfigText described(const std::string& text) {
  FakeHost host;
  return describe(parse_config(text, "c", host));
}

}  // namespace

TEST_CASE("each key accepts its valid values") {
  for (const Values& values : all_values()) {
    for (const std::string& value : values.right) {
      const Written written = write(values.section, values.key, value);
      CAPTURE(written.text);
      CHECK(errors_in(written.text) == Lines{});
      if (values.section == "lists") {
        CHECK(errors_in("[defaults]\n" + values.key + " = " + value + "\n") == Lines{});
      }
    }
  }
}

TEST_CASE("each key refuses invalid values with its name, location and valid values") {
  for (const Values& values : all_values()) {
    for (const std::string& value : values.wrong) {
      const Written written = write(values.section, values.key, value);
      CAPTURE(written.text);
      const Lines lines = errors_in(written.text);
      REQUIRE(lines.size() == 1);
      CAPTURE(lines[0]);
      const std::string line = values.section == "lists" ? "c:3:" : "c:2:";
      CHECK(lines[0].starts_with(line));
      const auto name = lines[0].find(": " + written.path);
      REQUIRE(name != std::string::npos);
      // The column is that of the value or of a part of it.
      const auto column = std::stoul(lines[0].substr(4));
      CHECK(column >= values.key.size() + 4);
      const bool has_remedy = lines[0].find("must ") != std::string::npos ||
                              lines[0].find("did you mean") != std::string::npos ||
                              lines[0].find("w8y.toml(5)") != std::string::npos;
      CHECK(has_remedy);
      CHECK(lines[0].size() < 300);
    }
  }
}

TEST_CASE("executor and command refuse invalid values") {
  const auto errors = [](const std::string& line) {
    return errors_in("[lists.w]\n" + line + "\n").size();
  };
  for (const char* value : {"\"x\"", "\"./x\"", "\"\"", "1", "[\"/x\"]", "true", "\"/a\\u0000\""}) {
    CAPTURE(value);
    CHECK(errors(std::string("executor = ") + value) == 1);
  }
  for (const char* value :
       {"\"x\"", "[]", "[\"\"]", "[1]", "[\"./x\"]", "[\"a/b\"]", "{}", "[\"x\", \"\\u0000\"]"}) {
    CAPTURE(value);
    CHECK(errors(std::string("command = ") + value) == 1);
  }
  for (const char* value : {"[\"x\"]", "[\"/a/b\", \"\"]", "[\"{}\"]"}) {
    CAPTURE(value);
    CHECK(errors(std::string("command = ") + value) == 0);
  }
}

TEST_CASE("the table of this test contains every known key") {
  std::set<std::string> tested = {"lists.executor", "lists.command", ".include"};
  for (const Values& values : all_values()) tested.insert(values.section + "." + values.key);
  for (const KnownKey& key : known_keys()) {
    // Keys of nested sections have tests of their own; for lists_from see
    // config_lists_from_test.cpp.
    if (key.section.find('.') != std::string::npos || key.section == "lists_from") continue;
    CAPTURE(key.name);
    CHECK(tested.erase(key.section + "." + key.name) == 1);
  }
  CHECK(tested.empty());
}

TEST_CASE("the documented default of each key is the value that applies without the key") {
  for (const KnownKey& key : known_keys()) {
    if (key.fallback.empty() || key.section.empty() || key.section == "lists_from") continue;
    CAPTURE(key.name);
    const bool nested = key.section == "lists.backoff";
    const std::string value = nested ? "{ " + key.name + " = " + key.fallback + " }" : key.fallback;
    const Written written =
        write(nested ? "lists" : key.section, nested ? "backoff" : key.name, value);
    const ConfigText with = described(written.text);
    const std::string list = "[lists.w]\n" + program_for(key.name);
    const ConfigText without =
        described(key.section.starts_with("lists") ? list + kind_for(key.name) : "");
    CHECK(with.redis == without.redis);
    CHECK(with.supervisor == without.supervisor);
    CHECK(with.lists == without.lists);
  }
}

}  // namespace config_keys_test
