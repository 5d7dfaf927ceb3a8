// `EXECUTOR [args…] --stream NAME`: input and output.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "core/base64.hpp"
#include "stream_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;
using Json = nlohmann::json;

TEST_CASE("one process runs many items, several at a time") {
  StreamBench bench;
  bench.start("A", "hold");
  bench.start("B", "hold");
  CHECK(bench.run("C", "x") == "answered");
  CHECK_FALSE(bench.recorder.runs["A"].end);
  CHECK(bench.run("D", "release") == "answered");
  CHECK(bench.end_of("A") == "answered");
  CHECK(bench.end_of("B") == "answered");
  CHECK(bench.recorder.started.size() == 1);
  for (const char* run : {"A", "B", "C", "D"}) CHECK(bench.pid(run) == bench.recorder.started[0]);
}

TEST_CASE(
    "a stream process has --stream and the list name as arguments, and receives each item "
    "complete") {
  StreamBench bench;
  bench.rule.args = {"-v"};
  bench.rule.prefix = "media:thumbs";
  bench.rule.max_line = std::size_t{8} << 20;  // the program returns its input
  auto items = difficult_items();
  items.emplace_back("a\0b", 3);
  items.emplace_back(std::size_t{1} << 20, 'y');
  items.emplace_back(std::size_t{3} << 20, '\xff');
  int number = 0;
  for (const Item& item : items) {
    const RunId run = "RUN" + std::to_string(++number);
    REQUIRE(bench.run(run, item) == "answered");
    const Json told = Json::parse(bench.result(run));
    CHECK(told["args"] == Json{"-v", "--stream", "media:thumbs"});
    const Json line = told["line"];
    CHECK(line["id"] == run);
    CHECK(line["name"] == "media:thumbs");
    CHECK(line["fence"] == 77);
    CHECK(line["attempt"] == 2);
    const Item got = line.contains("item")
                         ? line["item"].get<std::string>()
                         : base64_decode(line["item_base64"].get<std::string>()).value();
    CHECK(got == item);
  }
  CHECK(bench.recorder.started.size() == 1);
}

TEST_CASE(
    "the environment of a stream process has variables of the list, but none of a single run") {
  StreamBench bench(R"(#!/bin/sh
read line; id=${line#*'"id":"'}; id=${id%%'"'*}
all=$(env | grep '^W8Y_\|^COLOUR\|^IT=' | sort | tr '\n' ' ')
echo "{\"type\":\"complete\",\"id\":\"$id\",\"env\":\"$all\"}"
cat >/dev/null)");
  bench.rule.child.edit().env = {{"COLOUR", "blue"}};
  bench.rule.child.edit().env_var = "IT";
  REQUIRE(bench.run("A", "x") == "answered");
  CHECK(bench.result("A") == R"({"env":"COLOUR=blue W8Y_HOST=host-1 W8Y_LIST=work "})");
}

TEST_CASE("a temporary directory belongs to a process, and is removed with it") {
  StreamBench bench;
  bench.rule.child.edit().cwd = "temp";
  bench.rule.max_items = 2;
  std::vector<std::string> directories;
  for (const char* run : {"A", "B", "C"}) {
    REQUIRE(bench.run(run, "x") == "answered");
    directories.push_back(Json::parse(bench.result(run))["cwd"]);
  }
  CHECK(directories[0] == directories[1]);
  CHECK(directories[1] != directories[2]);
  CHECK(bench.wait([&] { return !std::filesystem::exists(directories[0]); }));
  CHECK(std::filesystem::exists(directories[2]));
  bench.executor.reset();
  CHECK(bench.wait([&] { return !std::filesystem::exists(directories[2]); }));
}

TEST_CASE("lines belong to the run that they name, and other lines are counted") {
  StreamBench bench;
  CHECK(bench.run("A", R"(say {"type":"progress","id":"ID","numerator":1,"denominator":2})") ==
        "answered");
  REQUIRE(bench.recorder.runs["A"].messages.size() == 2);
  CHECK(std::holds_alternative<Progress>(bench.recorder.runs["A"].messages[0]));

  bench.run("B", R"(say {"type":"progress","id":"ID"})");
  CHECK(bench.recorder.runs["B"].bad_lines().size() == 1);
  CHECK(bench.recorder.runs["B"].end->bad_lines == 1);

  bench.rule.max_line = 300;
  for (const char* line : {"garbage", R"({"type":"progress","numerator":1,"denominator":2})",
                           R"({"type":"complete","id":"nobody"})", R"({"type":"complete"})"})
    CHECK(bench.run("C" + std::to_string(bench.recorder.ended), std::string("say ") + line) ==
          "answered");
  CHECK(bench.recorder.bad_lines == std::vector<std::string>{"bad JSON at byte 1: garbage", "no id",
                                                             "unknown id: nobody", "no id"});
  // Lines of finished runs are late, but not invalid.
  bench.run("D", R"(say {"type":"progress","id":"A","numerator":2,"denominator":2})");
  bench.run("E", R"(say {"type":"complete","id":"A"})");
  CHECK(bench.recorder.bad_lines.size() == 4);
  // The program completes its run twice.
  bench.run("F", R"(say {"type":"complete","id":"ID","error":"first"})");
  CHECK(bench.recorder.runs["F"].end->complete->error == "first");
  CHECK(bench.recorder.runs["F"].bad_lines() ==
        std::vector<std::string>{"a second \"complete\" message"});
  bench.executor->retire();
  REQUIRE(bench.wait([&] { return !bench.recorder.runs_ended.empty(); }));
  CHECK(bench.recorder.runs_ended[0].bad_lines == 4);
  CHECK(bench.recorder.runs_ended[0].how == "exit 0");
  CHECK_FALSE(bench.recorder.runs_ended[0].early);
}

TEST_CASE("a line that is too long is skipped, and a run whose complete line is too long fails") {
  StreamBench bench;
  bench.rule.max_line = 100;
  const std::string tail = std::string(5000, 'x');
  CHECK(bench.run("A", "say " + tail) == "answered");
  CHECK(bench.recorder.bad_lines == std::vector<std::string>{"longer than 100B"});
  CHECK(bench.run("B", R"(say {"type":"update","id":"ID","data":")" + tail) == "answered");
  CHECK(bench.recorder.runs["B"].bad_lines() == std::vector<std::string>{"longer than 100B"});
  CHECK_FALSE(bench.recorder.runs["B"].end->complete->error);
  CHECK(bench.run("C", tail) == "answered");  // the program returns it
  CHECK(bench.recorder.runs["C"].end->complete->error ==
        "its \"complete\" message is longer than 100B");
  CHECK(bench.recorder.bad_lines.size() == 1);
}

TEST_CASE("log output of a process belongs to its only open run, or to none") {
  StreamBench bench;
  CHECK(bench.run("A", "log one error") == "answered");
  CHECK(bench.recorder.runs["A"].log == std::vector<std::string>{"one error"});
  CHECK(bench.recorder.runs["A"].end->stderr_tail == "one error\n");
  bench.start("B", "hold");
  REQUIRE(bench.started("B"));
  CHECK(bench.run("C", "log two") == "answered");
  CHECK(bench.wait([&] { return !bench.recorder.process_log.empty(); }));
  CHECK(bench.recorder.process_log == std::vector<std::string>{"two"});
  CHECK(bench.recorder.runs["B"].log.empty());
}

TEST_CASE("several processes share the concurrency of the list") {
  StreamBench bench;
  bench.rule.processes = 3;
  bench.rule.concurrency = 6;
  bench.make();
  CHECK(bench.executor->capacity() == 6);
  std::map<int, int> open;
  for (int i = 0; i < 6; ++i) bench.start("H" + std::to_string(i), "hold");
  for (int i = 0; i < 6; ++i) {
    REQUIRE(bench.started("H" + std::to_string(i)));
    ++open[bench.pid("H" + std::to_string(i))];
  }
  CHECK(open.size() == 3);
  for (const auto& [pid, runs] : open) CHECK(runs == 2);
}

TEST_CASE("the capacity depends on processes, concurrency and capabilities") {
  StreamBench bench(obedient, 2);
  const auto capacity = [&](unsigned processes, unsigned runs) {
    bench.rule.processes = processes;
    bench.rule.concurrency = runs;
    bench.make();
    return bench.executor->capacity();
  };
  CHECK(capacity(1, 8) == 2);
  CHECK(capacity(3, 8) == 6);
  CHECK(capacity(8, 4) == 4);
  CHECK(capacity(1, 1) == 1);
}
