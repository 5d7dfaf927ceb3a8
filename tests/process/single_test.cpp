// `EXECUTOR [args…] NAME ID LENGTH` and its JSON lines.
#include <doctest/doctest.h>

#include "executor_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace single_test {
namespace {

/// Single executor with a shell script as its body.
struct Executable {
  explicit Executable(const std::string& body) : rule(single_rule(directory.script("x", body))) {}
  TempDir directory;
  ListConfig rule;
};

}  // namespace

TEST_CASE(
    "a single executor has name, ID and length as arguments, and the item on standard input") {
  const Executable executable(R"(printf '%s|' "$@" >&2; echo >&2; cat >"$OUT")");
  ListConfig rule = executable.rule;
  rule.args = {"-v", "two words"};
  rule.child.edit().env = {{"OUT", executable.directory.path() + "/out"}};
  Bench bench;
  auto items = difficult_items();
  items.emplace_back("a\0b", 3);
  items.emplace_back(std::size_t{1} << 20, 'y');
  for (const Item& item : items) {
    const auto told = bench.run_item(item, rule);
    CHECK(told.reason() == "exit 0");
    REQUIRE(told.log.size() == 1);
    CHECK(told.log[0] == "-v|two words|work|RUN" + std::to_string(bench.number) + "|" +
                             std::to_string(item.size()) + "|");
    CHECK(executable.directory.read("out") == item);
  }
}

TEST_CASE("the payload of a job replaces the item") {
  const Executable executable("cat >&2; echo \" $*\" >&2");
  Bench bench;
  const auto told =
      bench.run({"RUN", "item", {"feed", "JOB", "the payload"}, 1, 1}, executable.rule);
  CHECK(told.log == std::vector<std::string>{"the payload feed JOB 11"});
}

TEST_CASE("messages are in order, and the first complete is the result") {
  const Executable executable(R"(
echo '{"type":"progress","numerator":1,"denominator":2}'
echo '{"type":"print","content":"hello"}'
echo '{"type":"update","data":[1]}'
echo '{"type":"complete","size":10,"cooldown":"10m"}'
echo '{"type":"complete","error":"too late"}'
printf '{"type":"update","data":2}')");
  Bench bench;
  const auto told = bench.run_item("x", executable.rule);
  REQUIRE(told.messages.size() == 6);
  CHECK(std::holds_alternative<Progress>(told.messages[0]));
  CHECK(std::get<Print>(told.messages[1]).content == "hello");
  CHECK(std::get<Update>(told.messages[2]).data == "[1]");
  CHECK(std::get<Complete>(told.messages[3]).cooldown == 10min);
  CHECK(std::get<BadLine>(told.messages[4]).reason == "a second \"complete\" message");
  CHECK(std::get<Update>(told.messages[5]).data == "2");
  REQUIRE(told.end->complete);
  CHECK(told.end->complete->result == R"({"size":10,"cooldown":"10m"})");
  CHECK_FALSE(told.end->complete->error);
  CHECK(told.end->bad_lines == 1);
  CHECK(told.end->stderr_tail == "hello\n");
}

TEST_CASE("invalid lines are counted, and the run continues") {
  const Executable executable(R"(
echo garbage
echo
head -c 200 /dev/zero | tr '\0' x; echo
printf '\377\376\n'
echo '{"type":"complete","error":"no","cooldown":"soon"}'
exit 1)");
  ListConfig rule = executable.rule;
  rule.max_line = 100;
  Bench bench;
  const auto told = bench.run_item("x", rule);
  const auto bad = told.bad_lines();
  REQUIRE(bad.size() == 5);
  CHECK(bad[0] == "bad JSON at byte 1: garbage");
  CHECK(bad[2] == "longer than 100B");
  CHECK(bad[4] == R"(cooldown is not a duration: "soon")");
  CHECK(told.end->bad_lines == 5);
  CHECK(told.end->complete->error == "no");
  CHECK(told.reason() == "exit 1");
}

TEST_CASE("a flood of invalid lines does not delay another run") {
  const Executable flood("yes garbage");
  Bench bench;
  bench.start({"FLOOD", "x", {}, 1, 1}, flood.rule);
  auto& runs = bench.recorder.runs;
  REQUIRE(bench.wait([&] { return !runs["FLOOD"].messages.empty(); }));
  for (int i = 0; i < 5; ++i) {
    CHECK(bench.run_item("x", command_rule({"true"})).reason() == "exit 0");
    runs["FLOOD"].messages.clear();
  }
  bench.executor->kill("FLOOD");
  CHECK(bench.wait([&] { return runs["FLOOD"].end.has_value(); }));
  CHECK(runs["FLOOD"].end->bad_lines > 1000);
}

TEST_CASE(
    "an executor that is missing for a run is an error, and later runs start when it exists") {
  const Executable executable("exit 0");
  Bench bench;
  CHECK(bench.run_item("x", executable.rule).reason() == "exit 0");
  unlink(executable.rule.executor->c_str());
  CHECK(bench.run_item("x", executable.rule).reason() ==
        "cannot run " + *executable.rule.executor + ": No such file or directory");
  executable.directory.file("x", "#!/bin/sh\n", 0644);
  CHECK(bench.run_item("x", executable.rule).reason() ==
        "cannot run " + *executable.rule.executor + ": Permission denied");
  executable.directory.script("x", "exit 6");
  CHECK(bench.run_item("x", executable.rule).reason() == "exit 6");
}

}  // namespace single_test
