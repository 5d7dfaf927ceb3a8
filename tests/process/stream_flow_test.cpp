// Stream processes: replacement, backpressure, and their end without an executor.
#include <doctest/doctest.h>

#include <set>

#include "stream_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

TEST_CASE("a process that has received max_items finishes them while its successor is ready") {
  StreamBench bench;
  bench.rule.max_items = 3;
  bench.start("A", "hold");
  bench.start("B", "hold");
  bench.start("C", "hold");
  REQUIRE(bench.started("C"));
  REQUIRE(bench.wait([&] { return bench.recorder.started.size() == 2; }));  // before it is needed
  CHECK(bench.run("D", "x") == "answered");
  CHECK(bench.pid("D") == bench.recorder.started[1]);
  CHECK(bench.pid("C") == bench.recorder.started[0]);
  CHECK_FALSE(bench.recorder.runs["A"].end);
  CHECK(bench.directory.read("eof").empty());
  for (const char* run : {"A", "B", "C"}) {
    bench.stop(run);
    CHECK(bench.end_of(run) == "answered");
  }
  CHECK(bench.wait([&] { return bench.recorder.runs_ended.size() == 1; }));
  CHECK(bench.recorder.runs_ended[0].how == "exit 0");
  CHECK_FALSE(bench.recorder.runs_ended[0].early);
  CHECK(bench.directory.read("eof") == "end of file\n");
}

TEST_CASE("20 items with max_items = 1 are run by 20 processes") {
  StreamBench bench(obedient, 2);
  bench.rule.max_items = 1;
  bench.rule.concurrency = 2;
  std::set<int> pids;
  for (int i = 0; i < 20; ++i) {
    const RunId run = "R" + std::to_string(i);
    REQUIRE(bench.run(run, "x") == "answered");
    pids.insert(bench.pid(run));
  }
  CHECK(pids.size() == 20);
  bench.executor->retire();
  CHECK(bench.wait(
      [&] { return bench.recorder.runs_ended.size() == bench.recorder.started.size(); }));
}

TEST_CASE("a process that is older than max_age is replaced") {
  StreamBench bench;
  bench.rule.max_age = 200ms;
  bench.start("A", "hold");
  REQUIRE(bench.wait([&] { return bench.recorder.started.size() == 2; }));
  CHECK_FALSE(bench.recorder.runs["A"].end);
  bench.start("B", "x");
  CHECK(bench.end_of("B") == "answered");
  CHECK(bench.pid("B") != bench.pid("A"));
  bench.stop("A");
  CHECK(bench.end_of("A") == "answered");
  CHECK(bench.wait([&] { return !bench.recorder.runs_ended.empty(); }));
}

TEST_CASE("a process that does not exit at end of file is stopped") {
  StreamBench bench;
  bench.rule.child.edit().env = {{"LINGER", "1"}};
  CHECK(bench.run("A", "x") == "answered");
  bench.executor->retire();
  REQUIRE(bench.wait([&] { return !bench.recorder.runs_ended.empty(); }));
  CHECK(bench.recorder.runs_ended[0].how == "signal 15 (SIGTERM)");
  CHECK_FALSE(bench.recorder.runs_ended[0].early);
}

TEST_CASE("a process that does not read has a limited buffer, and further items do not start") {
  StreamBench bench(obedient, 100);
  bench.rule.concurrency = 100;
  bench.start("A", "deaf");
  REQUIRE(bench.started("A"));
  const Item large(std::size_t{300} << 10, 'x');
  for (int i = 0; i < 50; ++i) bench.start("R" + std::to_string(i), large);
  CHECK(bench.end_of("R49") == "no process of its executor accepts items");
  std::size_t taken = 0;
  for (int i = 0; i < 50; ++i) {
    const auto& told = bench.recorder.runs["R" + std::to_string(i)];
    taken += told.pid != 0;
    if (told.pid == 0) CHECK(std::get<NotStarted>(told.end->process).host_is_short);
  }
  CHECK(taken >= 3);
  CHECK(taken <= 5);
  bench.kill("A");
  CHECK(bench.end_of("A") == "its process ended: signal 9 (SIGKILL)");
}

TEST_CASE("more data than the buffer holds is sent as the process reads") {
  StreamBench bench;
  bench.timeout = std::chrono::minutes(1);  // on a busy machine, reading takes more than 1 s
  const Item large = "large " + Item(std::size_t{300} << 10, 'x');
  for (int i = 0; i < 8; ++i) bench.start("R" + std::to_string(i), large);
  for (int i = 0; i < 8; ++i) CHECK(bench.end_of("R" + std::to_string(i)) == "answered");
}

TEST_CASE("hundreds of items of one loop iteration, more than a pipe holds, all arrive") {
  StreamBench bench(obedient, 400);
  bench.rule.concurrency = 400;
  const Item item(1000, 'x');
  for (int i = 0; i < 400; ++i) bench.start("R" + std::to_string(i), item);
  for (int i = 0; i < 400; ++i) CHECK(bench.end_of("R" + std::to_string(i)) == "answered");
  CHECK(bench.recorder.started.size() == 1);
}

TEST_CASE("items partly in the pipe when the process ends are run by another process") {
  StreamBench bench(R"(#!/bin/sh
read line; id=${line#*'"id":"'}; id=${id%%'"'*}
while [ ! -e "$GO" ]; do sleep 0.01; done
echo "{\"type\":\"complete\",\"id\":\"$id\"}"
)");
  bench.rule.child.edit().env = {{"GO", bench.directory.path() + "/go"}};
  const Item item(std::size_t{15} << 10, 'x');
  for (int i = 0; i < 8; ++i) bench.start("R" + std::to_string(i), item);
  REQUIRE(bench.started("R7"));
  bench.directory.file("go", "");
  for (int i = 0; i < 8; ++i) CHECK(bench.end_of("R" + std::to_string(i)) == "answered");
  CHECK(bench.recorder.started.size() == 8);
}

TEST_CASE("a flood of lines from one process delays no other process") {
  StreamBench flood("#!/bin/sh\nexec yes garbage\n");
  flood.start("A", "x");
  REQUIRE(flood.wait([&] { return !flood.recorder.bad_lines.empty(); }));
  RunRecorder recorder;
  auto other =
      executor::make_executor(flood.loop, {"host-1"}, recorder, command_rule({"true"}), {});
  for (int i = 0; i < 5; ++i) {
    const RunId run = "B" + std::to_string(i);
    other->start({run, "x", {}, 1, 1}, std::make_shared<const ListConfig>(command_rule({"true"})));
    CHECK(flood.wait([&] { return recorder.runs[run].end.has_value(); }));
    flood.recorder.bad_lines.clear();
  }
}

TEST_CASE("processes of a destroyed executor exit at end of file") {
  StreamBench bench;
  bench.retiring_streams = std::make_unique<executor::RetiringStreams>(bench.loop);
  CHECK(bench.run("A", "x") == "answered");
  const int pid = bench.pid("A");
  bench.executor.reset();
  bool gone = false;
  bench.retiring_streams->when_none([&] { gone = true; });
  REQUIRE(bench.wait([&] { return gone; }));
  CHECK_FALSE(alive(pid));
  CHECK(bench.directory.read("eof") == "end of file\n");
}

TEST_CASE("processes that do not exit are killed on request, and at the end of RetiringStreams") {
  StreamBench bench;
  bench.rule.child.edit().env = {{"LINGER", "1"}};
  bench.rule.kill_grace = 1h;
  bench.retiring_streams = std::make_unique<executor::RetiringStreams>(bench.loop);
  CHECK(bench.run("A", "x") == "answered");
  bench.executor.reset();
  bool gone = false;
  bench.retiring_streams->when_none([&] { gone = true; });
  bench.retiring_streams->kill_all();
  CHECK(bench.wait([&] { return gone; }));
  CHECK(bench.run("B", "x") == "answered");
  const int pid = bench.pid("B");
  bench.executor.reset();
  bench.retiring_streams.reset();
  CHECK(bench.wait([&] { return !alive(pid); }));
}

TEST_CASE("a destroyed executor kills its runs without a report") {
  StreamBench bench;
  bench.start("A", "hold");
  REQUIRE(bench.started("A"));
  const int pid = bench.pid("A");
  bench.executor.reset();
  CHECK(bench.wait([&] { return !alive(pid); }));
  CHECK_FALSE(bench.recorder.runs["A"].end);
}
