// Plain commands.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "core/fd.hpp"
#include "executor_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a command has the bytes of the item for each {}, without a shell") {
  Bench bench;
  const ListConfig rule = command_rule({"printf", "%s\\0", "{}", "a{}b", "none", "{"});
  for (const Item& item : difficult_items()) {
    const auto told = bench.run_item(item, rule);
    CHECK(told.reason() == "exit 0");
    const std::string expected = item + '\0' + "a" + item + "b" + '\0' + "none" + '\0' + "{" + '\0';
    std::string seen = told.all_log();
    if (!expected.ends_with('\n')) seen.pop_back();
    CHECK(seen == expected);
  }
}

TEST_CASE("{} may occur several times in an argument, and is not replaced inside the item") {
  Bench bench;
  const auto told = bench.run_item("<{}>", command_rule({"echo", "x{}{}y{}"}));
  CHECK(told.log == std::vector<std::string>{"x<{}><{}>y<{}>"});
}

TEST_CASE("an item that is no valid argument fails by itself, if it is an argument") {
  Bench bench;
  const auto with_nul = bench.run_item(Item("a\0b", 3), command_rule({"echo", "{}"}));
  CHECK(with_nul.reason() == "the item contains a NUL byte and cannot be an argument");
  CHECK(std::get<NotStarted>(with_nul.end->process).item_at_fault);
  const auto too_long = bench.run_item(Item(200'000, 'x'), command_rule({"echo", "{}"}));
  CHECK(too_long.reason() == "the item is too long to be an argument");
  CHECK(std::get<NotStarted>(too_long.end->process).item_at_fault);
  for (const Item& item : {Item("a\0b", 3), Item(200'000, 'x')})
    CHECK(bench.run_item(item, command_rule({"true"})).reason() == "exit 0");
}

TEST_CASE("a run reports the resource use of its process and of the processes that it waited for") {
  Bench bench;
  const auto told = bench.run_item(
      "x", command_rule({"/bin/sh", "-c", "head -c 300M /dev/zero | tail -c 30M >/dev/null"}));
  REQUIRE(told.end);
  CHECK(told.end->used.cpu > Duration{0});
  // Peak memory is unknown if the test process has used more itself, as with sanitizers.
  rusage ours{};
  getrusage(RUSAGE_SELF, &ours);
  if (ours.ru_maxrss < 30 * 1024) CHECK(told.end->used.peak_memory > std::uint64_t{30} << 20);
}

TEST_CASE("both outputs of a command are log output, and the tail is of standard error") {
  Bench bench;
  const auto told = bench.run_item(
      "x", command_rule({"sh", "-c", R"(echo '{"type":"complete"}'; echo bad >&2; exit 3)"}));
  CHECK(told.reason() == "exit 3");
  CHECK(told.messages.empty());
  CHECK_FALSE(told.end->complete);
  CHECK(told.end->stderr_tail == "bad\n");
  CHECK(told.all_log().find("{\"type\":\"complete\"}\n") != std::string::npos);
  CHECK(told.all_log().find("bad\n") != std::string::npos);
  CHECK(told.end->bad_lines == 0);
}

TEST_CASE("standard input of a command is empty") {
  Bench bench;
  CHECK(bench.run_item("x", command_rule({"cat"})).log.empty());
}

TEST_CASE("a missing or not executable command is reported from the loop") {
  Bench bench;
  const auto missing = bench.run_item("x", command_rule({"w8y-no-such-program"}));
  CHECK(missing.reason() == "cannot run w8y-no-such-program: not found");
  CHECK(missing.pid == 0);
  CHECK_FALSE(std::get<NotStarted>(missing.end->process).item_at_fault);
  CHECK(bench.run_item("x", command_rule({"/nonexistent"})).reason() ==
        "cannot run /nonexistent: No such file or directory");
}

TEST_CASE("long lines of log output are truncated, and the tail has the last bytes") {
  Bench bench;
  ListConfig rule = command_rule({"sh", "-c", "seq 1000 >&2; printf %0100d 7"});
  rule.max_line = 10;
  rule.stderr_tail = 9;
  const auto told = bench.run_item("x", rule);
  CHECK(told.end->stderr_tail == "999\n1000\n");
  const auto zeros = std::find(told.log.begin(), told.log.end(), "0000000000");
  REQUIRE(zeros != told.log.end());
  CHECK(told.cut[static_cast<std::size_t>(zeros - told.log.begin())]);
  CHECK(told.log.size() == 1001);
}

TEST_CASE("10 MiB without a newline are one truncated line, with limited memory") {
  Bench bench;
  const std::size_t before = resident();
  const auto told =
      bench.run_item("x", command_rule({"sh", "-c", "head -c 10485760 /dev/zero | tr '\\0' x"}));
  CHECK(told.reason() == "exit 0");
  REQUIRE(told.log.size() == 1);
  CHECK(told.log[0].size() == std::size_t{1} << 20);
  CHECK(told.cut[0]);
  CHECK(resident() < before + (std::size_t{8} << 20));
}

TEST_CASE("stop and kill end only the given run") {
  Bench bench;
  ListConfig rule = command_rule({"sh", "-c", "echo ready; sleep 1000"});
  rule.kill_grace = 100ms;
  ListConfig deaf =
      command_rule({"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000; done"});
  deaf.kill_grace = 100ms;
  bench.start({"A", "x", {}, 1, 1}, rule);
  bench.start({"B", "x", {}, 1, 1}, deaf);
  bench.start({"C", "x", {}, 1, 1}, deaf);
  bench.start({"D", "x", {}, 1, 1}, rule);
  auto& runs = bench.recorder.runs;
  REQUIRE(bench.wait([&] {
    return runs["A"].log.size() + runs["B"].log.size() + runs["C"].log.size() +
               runs["D"].log.size() ==
           4;
  }));
  bench.stop("nobody");
  bench.stop("A");
  bench.stop("B");
  bench.executor->kill("C");
  REQUIRE(bench.wait([&] { return bench.recorder.ended == 3; }));
  CHECK(runs["A"].reason() == "signal 15 (SIGTERM)");
  CHECK(runs["B"].reason() == "signal 9 (SIGKILL)");
  CHECK(runs["C"].reason() == "signal 9 (SIGKILL)");
  CHECK_FALSE(runs["D"].end);
  const pid_t last = runs["D"].pid;
  bench.executor.reset();
  CHECK(bench.wait([&] { return !alive(last); }));
  CHECK(bench.recorder.ended == 3);  // without a report
}

TEST_CASE("a start is reported before any other event of the run") {
  Bench bench;
  bench.start({"A", "x", {}, 1, 1}, command_rule({"sleep", "1000"}));
  CHECK(bench.recorder.runs.empty());
  CHECK(bench.wait([&] { return bench.recorder.runs["A"].pid > 0; }));
}

TEST_CASE("many runs leave no descriptors, processes or files") {
  const TempDir directory;
  setenv("TMPDIR", directory.path().c_str(), 1);
  // Children of this process, including zombies. Some of an earlier test may still be exiting.
  const auto children = [] {
    std::istringstream all(read_file("/proc/thread-self/children"));
    return std::set<std::string>(std::istream_iterator<std::string>(all), {});
  };
  {
    Bench bench;
    bench.run_item("x", command_rule({"true"}));
    const std::size_t descriptors = open_descriptors();
    const std::set<std::string> before = children();
    for (int i = 0; i < 50; ++i)
      bench.run_item("x", command_rule({i % 10 == 0 ? "/nonexistent" : "true"}));
    CHECK(bench.wait([&] { return open_descriptors() <= descriptors; }));
    CHECK(bench.wait([&] { return std::ranges::includes(before, children()); }));
    CHECK(bench.wait([&] { return std::filesystem::is_empty(directory.path()); }));
  }
  unsetenv("TMPDIR");
}

namespace {

ListConfig result_rule(const std::string& script, ResultKind result) {
  ListConfig rule = command_rule({"sh", "-c", script});
  rule.result = result;
  return rule;
}

}  // namespace

TEST_CASE("standard output of a command is its result") {
  Bench bench;
  const auto text = bench.run_item(
      "x", result_rule("echo one; printf 'two\\n\\n'; echo bad >&2", ResultKind::output));
  REQUIRE(text.end->complete);
  CHECK(text.end->complete->result == "one\ntwo\n");
  CHECK(text.end->complete->is_text);
  CHECK(text.all_log() == "bad\n");
  const auto json = bench.run_item("x", result_rule(R"(printf '{"a":\n[1]}\n')", ResultKind::json));
  REQUIRE(json.end->complete);
  CHECK(json.end->complete->result == "{\"a\":\n[1]}\n");
  CHECK_FALSE(json.end->complete->is_text);
  CHECK_FALSE(json.end->complete->error);
  const auto empty = bench.run_item("x", result_rule("true", ResultKind::output));
  REQUIRE(empty.end->complete);
  CHECK(empty.end->complete->result.empty());
}

TEST_CASE(
    "a text result that is longer than max_result is truncated, with a line in the log output") {
  Bench bench;
  ListConfig rule = result_rule("printf 1234; sleep 0.1; printf 56789", ResultKind::output);
  rule.max_result = 6;
  const auto told = bench.run_item("x", rule);
  CHECK(told.end->complete->result == "123456");
  CHECK(told.all_log() == "the result is truncated to max_result, 6B\n");
  rule.max_result = 9;
  const auto whole = bench.run_item("x", rule);
  CHECK(whole.end->complete->result == "123456789");
  CHECK(whole.all_log().empty());
}

TEST_CASE("a command whose result must be JSON fails with the error if it is not") {
  Bench bench;
  const auto error_of = [&](const std::string& script, std::uint32_t most) {
    ListConfig rule = result_rule(script, ResultKind::json);
    rule.max_result = most;
    const auto told = bench.run_item("x", rule);
    REQUIRE(told.end->complete);
    CHECK(told.end->stderr_tail == (script == "true" ? "" : "{\"a\":1}["));
    return told.end->complete->error.value_or("none");
  };
  CHECK(error_of("printf '{\"a\":1}['", 100).find("its standard output is not JSON") == 0);
  CHECK(error_of("true", 100) ==
        "its standard output is empty, and result = \"json\" needs a JSON value");
  CHECK(error_of("printf '{\"a\":1}[]'", 8) ==
        "its standard output is longer than max_result, 8B, and result = \"json\" needs all of it");
}

TEST_CASE("standard output of a command that fails is log output, and no result") {
  Bench bench;
  const auto told =
      bench.run_item("x", result_rule("echo out; echo bad >&2; exit 3", ResultKind::output));
  CHECK(told.reason() == "exit 3");
  CHECK_FALSE(told.end->complete);
  CHECK(told.end->stderr_tail == "bad\nout\n");
  CHECK(told.all_log().find("out\n") != std::string::npos);
}
