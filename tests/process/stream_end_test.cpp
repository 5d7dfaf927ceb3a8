// Ends of runs of stream processes, and of the processes.
#include <doctest/doctest.h>
#include <signal.h>

#include "stream_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a cancelled run is requested to end, and other runs of its process continue") {
  StreamBench bench;
  bench.rule.kill_grace = 1h;  // the program obeys, however busy the machine is
  bench.start("A", "hold");
  bench.start("B", "hold");
  REQUIRE(bench.started("B"));
  bench.stop("A");
  CHECK(bench.end_of("A") == "answered");
  CHECK(bench.recorder.runs["A"].end->complete->error == "cancelled");
  CHECK(bench.run("C", "release") == "answered");
  CHECK(bench.end_of("B") == "answered");
  CHECK(bench.recorder.started.size() == 1);
}

TEST_CASE(
    "a process that does not cancel a run is stopped, and new items wait for another process") {
  StreamBench bench;
  bench.start("A", "stubborn");
  bench.start("B", "hold");
  REQUIRE(bench.started("B"));
  bench.stop("A");
  bench.start("C", "x");
  CHECK(bench.end_of("C") == "answered");
  CHECK(bench.pid("C") != bench.pid("A"));
  CHECK(bench.end_of("A") == "its process ended: signal 15 (SIGTERM)");
  CHECK_FALSE(bench.for_another("A"));
  CHECK(bench.end_of("B") == "its process ended: signal 15 (SIGTERM)");
  CHECK(bench.for_another("B"));
  CHECK(bench.recorder.runs_ended.size() == 1);
  CHECK_FALSE(bench.recorder.runs_ended[0].early);
}

TEST_CASE("a process that ignores SIGTERM is killed") {
  StreamBench bench("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1000; done\n");
  bench.start("A", "x");
  REQUIRE(bench.started("A"));
  bench.stop("A");
  CHECK(bench.end_of("A") == "its process ended: signal 9 (SIGKILL)");
}

TEST_CASE(
    "a kill terminates the process at once, and its other runs are left for another process") {
  StreamBench bench;
  bench.rule.kill_grace = 1h;
  bench.start("A", "hold");
  bench.start("B", "hold");
  REQUIRE(bench.started("B"));
  bench.kill("A");
  CHECK(bench.end_of("A") == "its process ended: signal 9 (SIGKILL)");
  CHECK_FALSE(bench.for_another("A"));
  CHECK(bench.end_of("B") == "its process ended: signal 9 (SIGKILL)");
  CHECK(bench.for_another("B"));
  CHECK(bench.run("C", "x") == "answered");
}

TEST_CASE("a run that no process has accepted ends when it is stopped or killed") {
  StreamBench bench(obedient, 1);
  bench.rule.kill_grace = 1h;
  bench.start("A", "hold");
  bench.start("B", "x");
  bench.start("C", "x");
  bench.stop("B");
  bench.kill("C");
  CHECK(bench.end_of("B") == "no process had accepted the item");
  CHECK(bench.end_of("C") == "no process had accepted the item");
  CHECK(bench.pid("B") == 0);
  bench.stop("A");
  CHECK(bench.end_of("A") == "answered");
}

TEST_CASE("open runs of a process that exits early have crashed, and another process replaces it") {
  StreamBench bench;
  bench.start("A", "hold");
  REQUIRE(bench.started("A"));
  CHECK(bench.run("B", "exit 0") == "its process ended: exit 0");
  CHECK(bench.end_of("A") == "its process ended: exit 0");
  CHECK_FALSE(bench.for_another("A"));
  CHECK_FALSE(bench.for_another("B"));
  CHECK(bench.recorder.runs_ended.at(0).early);
  CHECK(bench.run("C", "x") == "answered");
  bench.start("D", "hold");
  REQUIRE(bench.started("D"));
  CHECK(bench.run("E", "x") == "answered");  // D has been read as well
  ::kill(bench.pid("D"), SIGSEGV);
  CHECK(bench.end_of("D") == "its process ended: signal 11 (SIGSEGV)");
  CHECK(bench.run("F", "x") == "answered");
  CHECK(bench.recorder.started.size() == 3);
}

TEST_CASE("a crashed run has the tail of standard error") {
  StreamBench bench("#!/bin/sh\nread line\necho 'what went wrong' >&2\nexit 4\n");
  CHECK(bench.run("A", "x") == "its process ended: exit 4");
  CHECK(bench.recorder.runs["A"].end->stderr_tail == "what went wrong\n");
}

TEST_CASE("a process that exits cleanly between two items costs no run") {
  StreamBench bench(R"(#!/bin/sh
read line; id=${line#*'"id":"'}; id=${id%%'"'*}
while [ ! -e "$GO" ]; do sleep 0.01; done
echo "{\"type\":\"complete\",\"id\":\"$id\"}"
)");
  bench.rule.child.edit().env = {{"GO", bench.directory.path() + "/go"}};
  for (int i = 0; i < 5; ++i) bench.start("R" + std::to_string(i), "x");
  REQUIRE(bench.started("R4"));  // all lines are in one pipe, and one line is read
  bench.directory.file("go", "");
  for (int i = 0; i < 5; ++i) CHECK(bench.end_of("R" + std::to_string(i)) == "answered");
  CHECK(bench.recorder.started.size() == 5);
  CHECK_FALSE(bench.recorder.runs_ended.at(0).early);
}

TEST_CASE(
    "processes that exit at once are started at growing intervals, and items are handed back") {
  StreamBench bench("#!/bin/sh\necho run >>$0.log\nexit 3\n");
  bench.start("A", "x");
  CHECK(bench.end_of("A") == "its process ended: exit 3");
  const Instant began = bench.loop.now();
  std::size_t crashed = 1;
  std::size_t handed_back = 0;
  for (int i = 0; bench.loop.now() - began < 3s; ++i) {
    const RunId run = "R" + std::to_string(i);
    bench.start(run, "x");
    const std::string end = bench.end_of(run);
    const auto& process = bench.recorder.runs[run].end->process;
    if (const auto* unstarted = std::get_if<NotStarted>(&process)) {
      CHECK(unstarted->host_is_short);
      CHECK(end == "its processes fail: exit 3");
      ++handed_back;
    } else {
      CHECK(end == "its process ended: exit 3");
      ++crashed;
    }
  }
  CHECK(handed_back >= 1);
  CHECK(crashed <= 8);  // after 0 s, 0.1 s, 0.3 s, 0.7 s, 1.5 s and 3.1 s
  CHECK(bench.recorder.started.size() == crashed);
}

TEST_CASE("one item tests the program after an early exit, and others wait for it") {
  // A shell script starts at once. Runs wait for a process for 1 s only.
  StreamBench bench(R"(#!/bin/sh
[ -e "$0.go" ] || exit 1
complete() { for id in "$@"; do echo "{\"type\":\"complete\",\"id\":\"$id\"}"; done; }
while read -r line; do
  id=${line#*'"id":"'}
  id=${id%%'"'*}
  case $line in
    *'"hold"'*) held="$held $id" ;;
    *'"release"'*) complete $held $id ;;
    *'"id"'*) complete $id ;;
  esac
done
)");
  bench.run("A", "x");
  bench.start("R0", "x");
  bench.start("R1", "x");
  CHECK(bench.end_of("R0") == "its process ended: exit 1");
  bench.directory.file("x.go", "");
  bench.start("R2", "hold");
  bench.start("R3", "hold");
  CHECK(bench.end_of("R1") == "answered");
  REQUIRE(bench.started("R3"));
  CHECK(bench.pid("R2") == bench.pid("R1"));
  CHECK(bench.run("B", "release") == "answered");
  for (const char* run : {"R2", "R3"}) CHECK(bench.end_of(run) == "answered");
}

TEST_CASE("a program that cannot be started is reported to each waiting run") {
  StreamBench bench;
  bench.rule.executor = "/no/such/program";
  bench.start("A", "x");
  bench.start("B", "x");
  for (const char* run : {"A", "B"}) {
    CHECK(bench.end_of(run) == "cannot run /no/such/program: No such file or directory");
    CHECK(bench.pid(run) == 0);
  }
  bench.rule.executor = bench.directory.path() + "/x";
  CHECK(bench.run("C", "x") == "answered");
}

TEST_CASE("a process that has closed its standard input gets no more items") {
  StreamBench bench(R"(#!/bin/sh
read line; id=${line#*'"id":"'}; id=${id%%'"'*}
exec <&-
echo "{\"type\":\"complete\",\"id\":\"$id\"}"
exec sleep 1000
)");
  CHECK(bench.run("A", "x") == "answered");
  // The item was never read, so the next process runs it. The first process is stopped.
  CHECK(bench.run("B", "x") == "answered");
  CHECK(bench.pid("A") != bench.pid("B"));
  CHECK(bench.wait([&] { return !bench.recorder.runs_ended.empty(); }));
}
