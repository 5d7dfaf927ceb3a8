#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/retiring_streams.hpp"
#include "executor_support.hpp"

namespace w8y::test {

/// Stream executor that obeys its items. At end of file it exits with status 0, and writes to the
/// file "eof".
inline const char* const obedient = R"(#!/usr/bin/env python3
import base64, json, os, sys, time

open_runs = []

def say(run, kind, **members):
    sys.stdout.write(json.dumps({"type": kind, "id": run, **members}) + "\n")
    sys.stdout.flush()

def work(run, item, line):
    if item == "hold" or item == "stubborn":
        open_runs.append((run, item))
    elif item == "release":
        while open_runs:
            say(open_runs.pop(0)[0], "complete")
        say(run, "complete")
    elif item.startswith("exit "):
        os._exit(int(item[5:]))
    elif item.startswith("say "):
        sys.stdout.write(item[4:].replace("ID", run) + "\n")
        say(run, "complete")
    elif item.startswith("log "):
        sys.stderr.write(item[4:] + "\n")
        say(run, "complete", **({"error": "no"} if "error" in item else {}))
    elif item.startswith("last "):
        say(run, "complete")
        os._exit(int(item[5:]))
    elif item.startswith("large "):
        say(run, "complete", length=len(item))
    elif item == "deaf":
        time.sleep(1000)
    else:
        say(run, "complete", line=line, args=sys.argv[1:], pid=os.getpid(), cwd=os.getcwd())

while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    line = json.loads(line)
    if line["type"] == "item":
        work(line["id"], line.get("item", ""), line)
    elif line["type"] == "cancel" and (line["id"], "hold") in open_runs:
        open_runs.remove((line["id"], "hold"))
        say(line["id"], "complete", error="cancelled")

with open(os.path.dirname(sys.argv[0]) + "/eof", "a") as file:
    file.write("end of file\n")
if os.environ.get("LINGER"):
    time.sleep(1000)
)";

/// Stream executor on a loop of its own, with named items.
struct StreamBench {
  explicit StreamBench(const std::string& program = obedient, unsigned at_once = 8)
      : concurrency(at_once) {
    rule.prefix = "work";
    rule.executor = directory.file("x", program, 0755);
    rule.mode = Mode::stream;
    rule.concurrency = 8;
    rule.kill_grace = std::chrono::milliseconds(300);
  }

  void start(const RunId& run, const Item& item) {
    if (!executor) make();
    recorder.inside_call = true;
    executor->start({run, item, {}, 77, 2}, std::make_shared<const ListConfig>(rule));
    recorder.inside_call = false;
  }
  void stop(const RunId& run) {
    recorder.inside_call = true;
    executor->stop(run);
    recorder.inside_call = false;
  }
  void kill(const RunId& run) {
    recorder.inside_call = true;
    executor->kill(run);
    recorder.inside_call = false;
  }
  void make() {
    executor =
        executor::make_executor(loop, options(), recorder, rule, Caps{{"stream"}, concurrency, ""});
  }
  executor::ExecutorOptions options() {
    executor::ExecutorOptions made{"host-1", nullptr, retiring_streams.get()};
    if (timeout) made.timeout = *timeout;
    return made;
  }
  bool wait(const std::function<bool()>& fact) { return turn_until(loop, fact); }
  bool started(const RunId& run) {
    return wait([&] { return recorder.runs[run].pid != 0; });
  }
  /// Returns the end of a run: "exit 3", "answered", …. Events after the end are errors of the
  /// test.
  std::string end_of(const RunId& run) {
    wait([&] { return recorder.runs[run].end.has_value(); });
    return recorder.runs[run].reason();
  }
  /// Runs an item to its end.
  std::string run(const RunId& run, const Item& item) {
    start(run, item);
    return end_of(run);
  }
  int pid(const RunId& run) { return recorder.runs[run].pid; }
  bool for_another(const RunId& run) {
    const auto* end = std::get_if<Unanswered>(&recorder.runs[run].end->process);
    return end != nullptr && end->for_another;
  }
  std::string result(const RunId& run) { return recorder.runs[run].end->complete->result; }

  TempDir directory;
  ListConfig rule;
  unsigned concurrency;
  std::optional<Duration> timeout;  ///< of items that wait; nullopt: the default
  loop::Loop loop;
  RunRecorder recorder;
  std::unique_ptr<executor::RetiringStreams> retiring_streams;
  std::unique_ptr<Executor> executor;
};

}  // namespace w8y::test
