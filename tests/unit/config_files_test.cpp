// Config files: includes, unreadable files, and files that root refuses.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fake_host.hpp"

using namespace w8y;
using namespace w8y::test;
using Lines = std::vector<std::string>;

namespace config_files_test {
namespace {

Lines errors_in_files(FakeHost& host) {
  Lines lines;
  try {
    load_config("/c", host);
  } catch (const ConfigError& error) {
    for (const ConfigDiagnostic& mistake : error.errors()) lines.push_back(mistake.to_string());
  }
  return lines;
}

constexpr const char* list_a = "[lists.a]\nexecutor = \"/x\"\n";
constexpr const char* list_b = "[lists.b]\nexecutor = \"/x\"\n";

}  // namespace

TEST_CASE("the lists of included files get the defaults of the first file") {
  FakeHost host;
  host.files["/c"].text = "include = [\"/d/*.toml\", \"/d/b.toml\"]\n[defaults]\nweight = 3\n";
  host.files["/d/a.toml"].text = list_a;
  host.files["/d/b.toml"].text = list_b;
  host.globs["/d/*.toml"] = {"/c", "/d/a.toml", "/d/b.toml"};
  const Config config = load_config("/c", host);
  CHECK(config.lists.size() == 2);
  CHECK(config.lists.at("b")->weight == 3);
  host.globs["/d/*.toml"].clear();
  CHECK(load_config("/c", host).lists.size() == 1);
}

TEST_CASE("errors in all files are reported together, file by file") {
  FakeHost host;
  host.files["/c"].text =
      "include = [\"/d/*\", \"relative\", \"/missing\", 3]\n[lists.a]\nexecutor = \"x\"\n";
  host.files["/d/1"].text = "[redis]\n[lists.b]\nexecutor = \"/x\"\nweight = 0\n";
  host.files["/d/2"].text = "[lists.c";
  host.files["/d/3"].problem = "is a directory";
  host.files["/d/4"].text = "include = []\n[lists.\"a:\"]\nexecutor = \"/x\"\nnise = 1\n";
  host.globs["/d/*"] = {"/d/1", "/d/2", "/d/3", "/d/4"};
  const Lines lines = errors_in_files(host);
  REQUIRE(lines.size() == 11);
  CHECK(lines[0].starts_with("/c:1:20: include[1]: is \"relative\"; must be an absolute path"));
  CHECK(lines[1].starts_with("/c:1:32: include[2]: \"/missing\" does not exist"));
  CHECK(lines[2] == "/c:1:44: include[3]: is 3; must be an absolute path");
  CHECK(lines[3].starts_with("/c:3:12: lists.a.executor: is \"x\"; must be an absolute path"));
  CHECK(lines[4] == "/d/1:1:2: redis: is in an included file, which may have only [lists]");
  CHECK(lines[5].starts_with("/d/1:4:10: lists.b.weight: is 0; must be an integer from 1 to "));
  CHECK(lines[6].starts_with("/d/2:1:9: is not valid TOML"));
  CHECK(lines[7] == "/d/3: is a directory");
  CHECK(lines[8].starts_with("/d/4:1:1: include: is in an included file"));
  CHECK(lines[9].starts_with("/d/4:2:8: lists.\"a:\": is defined twice: first at /c:2:8"));
  CHECK(lines[10].starts_with("/d/4:4:1: lists.\"a:\".nise: is not a known key"));
}

TEST_CASE("errors name standard input <stdin>") {
  FakeHost host;
  host.files["-"].text = "x = 1\n";
  CHECK_THROWS_WITH_AS(load_config("-", host),
                       "<stdin>:1:1: x: is not a known key; must be one of include, lists_from, "
                       "redis, gearman, supervisor, defaults, lists, hosts",
                       ConfigError);
}

TEST_CASE("a missing file is one error") {
  FakeHost host;
  CHECK(errors_in_files(host) == Lines{"/c: not found"});
}

TEST_CASE("a config read by root refuses files that other users can write") {
  FakeHost host;
  host.distrusted["/e"] = "can be written by others";
  const std::string text =
      "[redis]\npassword_file = \"/e\"\n[lists.w]\nexecutor = \"/x\"\nenv_file = \"/e\"\n";
  CHECK(errors_in(text, host) ==
        Lines{"c:2:17: redis.password_file: \"/e\" can be written by others",
              "c:5:12: lists.w.env_file: \"/e\" can be written by others"});
  host.root = false;
  CHECK(errors_in(text, host).empty());
}

TEST_CASE("a config read by root refuses files to write in directories of other users") {
  FakeHost host;
  host.distrusted["/l"] = "is in /, which belongs to user 5";
  const std::string text =
      "[supervisor]\nlog_file = \"/l\"\n[lists.w]\nsource = \"schedule\"\nexecutor = \"/x\"\n"
      "timefile = \"/l\"\nqueues = \"A\"\n";
  CHECK(errors_in(text, host) ==
        Lines{"c:2:12: supervisor.log_file: \"/l\" is in /, which belongs to user 5",
              "c:6:12: lists.w.timefile: \"/l\" is in /, which belongs to user 5"});
  host.root = false;
  CHECK(errors_in(text, host).empty());
}

TEST_CASE("a secret in a world-readable file is a warning that names the mode of the file") {
  FakeHost host;
  host.root = false;
  host.readable = {{"/pw", "0644"}, {"/token", "0604"}, {"c", "0666"}};
  const auto warnings = [&](const std::string& url) {
    return parse_config("[redis]\nurl = \"" + url +
                            "\"\npassword_file = \"/pw\"\n[supervisor]\n"
                            "status_token_file = \"/token\"\n[lists.w]\nexecutor = \"/x\"\n",
                        "c", host)
        .warnings;
  };
  const std::string rest = ", so every user can read it; chmod o-r it";
  const Lines files = {
      "c:3:1: redis.password_file: \"/pw\" holds a secret and has mode 0644" + rest,
      "c:5:1: supervisor.status_token_file: \"/token\" holds a secret and has mode "
      "0604" +
          rest};
  CHECK(warnings("redis://user@h") == files);
  CHECK(
      warnings("redis://user:secret@h") ==
      Lines{files[0], "c:2:1: redis.url: \"c\" holds a secret and has mode 0666" + rest, files[1]});
  host.readable.clear();
  CHECK(warnings("redis://user:secret@h").empty());
}

TEST_CASE("a file that only runs need may be missing on this host") {
  FakeHost host;
  host.absent = {"/e"};
  CHECK(errors_in("[redis]\npassword_file = \"/e\"\n[lists.w]\nexecutor = \"/x\"\n"
                  "env_file = \"/e\"\n",
                  host) == Lines{"c:2:17: redis.password_file: \"/e\" not found"});
  host.distrusted["/e"] = "is in /tmp/open, which can be written by its group or others";
  CHECK(errors_in("[lists.w]\nexecutor = \"/x\"\nenv_file = \"/e\"\n", host).size() == 1);
}

}  // namespace config_files_test
