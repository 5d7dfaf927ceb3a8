// Config: lists printed by programs.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fake_host.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace config_lists_from_test {
namespace {

/// Host whose programs print `printed`.
struct ProgramHost : FakeHost {
  File printed;
  std::vector<std::string> ran;
  Duration given{0};
  bool runs = true;

  std::optional<File> run(const std::vector<std::string>& command, Duration timeout) override {
    ran = command;
    given = timeout;
    if (!runs) return std::nullopt;
    return printed;
  }
};

const std::string from = "[[lists_from]]\ncommand = [\"/opt/lists\", \"--all\"]\n";

Lines wrong(const std::string& printed, const std::string& config = from) {
  ProgramHost host;
  host.printed.text = printed;
  return errors_in(config, host);
}

}  // namespace

TEST_CASE("lists_from: the output of a program defines lists, in TOML or JSON") {
  ProgramHost host;
  host.printed.text = "[lists.a]\nexecutor = \"/x\"\nconcurrency = 3\n";
  const std::string config = from + "timeout = \"2s\"\n[defaults]\nweight = 5\n";
  const Config toml = parse_config(config, "c", host);
  CHECK(host.ran == Lines{"/opt/lists", "--all"});
  CHECK(host.given == 2s);
  CHECK(toml.lists.at("a")->concurrency == 3);
  CHECK(toml.lists.at("a")->weight == 5);

  host.printed.text = R"( {"lists": {"a": {"executor": "/x", "concurrency": 3}}} )";
  CHECK(*parse_config(config, "c", host).lists.at("a") == *toml.lists.at("a"));
  for (const char* none : {"", "  \n", "{}", "{\"lists\": {}}"}) {
    CAPTURE(none);
    host.printed.text = none;
    CHECK(parse_config(config, "c", host).lists.empty());
  }
  host.runs = false;
  CHECK(parse_config(config, "c", host).lists.empty());
  host.runs = true;
  host.printed.text = "[lists.b]\nexecutor = \"/x\"\n";
  const std::string twice = from + from + "[lists.a]\nexecutor = \"/x\"\n";
  CHECK(errors_in(twice, host) ==
        Lines{"the output of /opt/lists:1:8: lists.b: is defined twice: first at the output of "
              "/opt/lists:1:8; remove one (a final ':' makes no difference)"});
}

TEST_CASE("lists_from: errors in the output of a program are reported with their location in it") {
  CHECK(
      wrong("[redis]\n[lists.a]\nexecutor = 3\nnise = 1\n") ==
      Lines{
          "the output of /opt/lists:1:2: redis: is in the output of a program, which may have only "
          "lists",
          "the output of /opt/lists:3:12: lists.a.executor: is 3; must be an absolute path",
          "the output of /opt/lists:4:1: lists.a.nise: is not a known key; did you mean "
          "\"nice\"?"});
  CHECK(
      wrong("{\"redis\": 1,\n \"lists\": {\"\xc3\xa9\": {\"executor\": 3,\n  \"nise\"  : [1, 2.5, "
            "true]\n , \"weight\":0}}}") ==
      Lines{
          "the output of /opt/lists:1:2: redis: is in the output of a program, which may have only "
          "lists",
          "the output of /opt/lists:2:30: lists.\"\xc3\xa9\".executor: is 3; must be an absolute "
          "path",
          "the output of /opt/lists:3:3: lists.\"\xc3\xa9\".nise: is not a known key; did you mean "
          "\"nice\"?",
          "the output of /opt/lists:4:13: lists.\"\xc3\xa9\".weight: is 0; must be an integer from "
          "1 to 1000000"});
}

TEST_CASE("lists_from: output that is neither valid TOML nor valid JSON is one error") {
  const auto only = [](const std::string& printed) {
    const Lines lines = wrong(printed);
    REQUIRE(lines.size() == 1);
    return lines.front();
  };
  CHECK(only("lists = [").starts_with("the output of /opt/lists:1:10: is not valid TOML"));
  CHECK(only("{\"lists\":\n {]}") == "the output of /opt/lists:2:3: is not valid JSON here");
  CHECK(only("{\"lists\": {}} x") == "the output of /opt/lists:1:15: is not valid JSON here");
  CHECK(only("{\"lists\": {") == "the output of /opt/lists:1:12: is not valid JSON here");
  CHECK(only("{\"lists\": {}, \"lists\": {}}") ==
        "the output of /opt/lists:1:15: has \"lists\" twice; remove one");
  CHECK(only("{\"lists\": {\"a\": {\"executor\": null}}}") ==
        "the output of /opt/lists:1:30: is null; no key accepts null");
  CHECK(only("{\"lists\": {\"a\": {\"weight\": 18446744073709551615}}}") ==
        "the output of /opt/lists:1:28: is a number that is too large");
  CHECK(only("{\"lists\": " + std::string(40, '[') + std::string(40, ']') + "}") ==
        "the output of /opt/lists:1:42: is nested deeper than any key accepts");
  CHECK(only("{\"lists\": [3]}").starts_with("the output of /opt/lists:1:11: lists: is "));
  CHECK(only("[lists.a]\nx = \"\xff\"\n").starts_with("the output of /opt/lists:2:"));
}

TEST_CASE("lists_from: failing programs and errors in the section itself are reported") {
  ProgramHost host;
  host.printed.problem = "exits with status 3: no database";
  CHECK(errors_in(from, host) ==
        Lines{"c:1:1: lists_from[0]: \"/opt/lists\" exits with status 3: no database"});
  host.distrusted["/opt/lists"] = "can be written by others";
  CHECK(errors_in(from, host).size() == 1);
  CHECK(errors_in(from, host).front().find("can be written by others") != std::string::npos);
  CHECK(wrong("", "lists_from = 3\n").front().starts_with("c:1:14: lists_from: is 3; must be "));
  CHECK(wrong("", "[[lists_from]]\n").front().find("has no command") != std::string::npos);
  CHECK(wrong("", "[[lists_from]]\ncommand = [\"lists\"]\n").front().find("absolute path") !=
        std::string::npos);
  CHECK(wrong("", "[[lists_from]]\ncommand = []\n").front().find("names no program") !=
        std::string::npos);
  CHECK(wrong("", from + "timeout = \"1ms\"\n").front().find("at least \"100ms\"") !=
        std::string::npos);
  CHECK(wrong("", from + "user = \"x\"\n").size() == 1);
}

}  // namespace config_lists_from_test
