// Children with bad behaviour.
#include <doctest/doctest.h>

#include <csignal>
#include <memory>

#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace child_test {
namespace {

/// Child on a loop, for tests that act while it runs.
struct Running {
  explicit Running(process::ChildOptions options)
      : child(std::make_unique<process::Child>(loop, std::move(options), recorder)) {}

  bool says(const std::string& text) {
    return turn_until(loop, [&] { return recorder.out.find(text) != std::string::npos; });
  }
  bool ends(Duration limit = 20s) {
    return turn_until(
        loop, [&] { return recorder.end.has_value(); }, limit);
  }
  [[nodiscard]] std::string end() const { return recorder.end ? end_text(*recorder.end) : "runs"; }

  loop::Loop loop;
  Recorder recorder;
  std::unique_ptr<process::Child> child;
};

process::ChildOptions with_grace(process::ChildOptions options, Duration grace) {
  options.kill_grace = grace;
  return options;
}

constexpr std::size_t mebi = std::size_t{1} << 20;

}  // namespace

TEST_CASE("both outputs and the end of a child are reported") {
  const Result result = run(sh("echo out; echo err >&2; exit 3"));
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.reason() == "exit 3");
  CHECK(run(sh("kill -9 $$")).reason() == "signal 9 (SIGKILL)");
}

TEST_CASE("input of any size is followed by end of file") {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, 64 * 1024 - 1ul, 64 * 1024 + 1ul, 5 * mebi}) {
    auto options = command({"/bin/cat"});
    for (std::size_t i = 0; i < size; ++i) options.input += static_cast<char>(i * 7 >> 3);
    const std::string input = options.input;
    const Result result = run(std::move(options));
    CHECK(result.out == input);
    CHECK(result.reason() == "exit 0");
  }
}

TEST_CASE("a child may ignore its input") {
  auto never = sh("exec sleep 0.05");
  never.input = std::string(mebi, 'x');
  CHECK(run(std::move(never)).reason() == "exit 0");
  auto closes = sh("exec <&-; sleep 0.05; echo done");
  closes.input = std::string(mebi, 'x');
  CHECK(run(std::move(closes)).out == "done\n");
  auto leaves = command({"/bin/true"});
  leaves.input = std::string(mebi, 'x');
  CHECK(run(std::move(leaves)).reason() == "exit 0");
}

TEST_CASE("a missing program is reported from the loop, not from the constructor") {
  Running running(command({"/nonexistent/x"}));
  CHECK_FALSE(running.recorder.end);
  CHECK(running.child->pid() == 0);
  running.child->stop();
  running.child->kill();
  REQUIRE(running.ends());
  CHECK(running.end() == "cannot run /nonexistent/x: No such file or directory");
}

TEST_CASE("stop sends SIGTERM to the whole group") {
  Running running(sh("sleep 1000 & echo ready; wait"));
  REQUIRE(running.says("ready"));
  running.child->stop();
  running.child->stop();
  REQUIRE(running.ends());
  CHECK(running.end() == "signal 15 (SIGTERM)");
}

TEST_CASE("a child that ignores SIGTERM is killed with SIGKILL after its grace time") {
  Running running(with_grace(sh("trap '' TERM; echo ready; while :; do sleep 1000; done"), 100ms));
  REQUIRE(running.says("ready"));
  const Instant start = running.loop.now();
  running.child->stop();
  REQUIRE(running.ends());
  CHECK(running.end() == "signal 9 (SIGKILL)");
  CHECK(running.loop.now() - start >= 100ms);
}

TEST_CASE("a child that is stopped by SIGSTOP still receives SIGTERM") {
  Running running(sh("echo ready; kill -STOP $$; sleep 1000"));
  REQUIRE(running.says("ready"));
  REQUIRE(turn_until(running.loop, [&] {
    const std::string path = "/proc/" + std::to_string(running.child->pid()) + "/status";
    return field(run(std::vector<std::string>{"/bin/cat", path}).out, "State").front() == 'T';
  }));
  running.child->stop();
  REQUIRE(running.ends(5s));
  CHECK(running.end() == "signal 15 (SIGTERM)");
}

TEST_CASE("kill does not wait") {
  Running running(sh("trap '' TERM; echo ready; while :; do sleep 1000; done"));
  REQUIRE(running.says("ready"));
  running.child->kill();
  REQUIRE(running.ends(5s));
  CHECK(running.end() == "signal 9 (SIGKILL)");
}

TEST_CASE("a grandchild that holds the pipes gets the grace time, then is killed with its group") {
  Running running(with_grace(sh("sleep 1000 & echo $!; exit 4"), 150ms));
  const Instant start = running.loop.now();
  REQUIRE(running.says("\n"));
  const pid_t grandchild = std::stoi(running.recorder.out);
  REQUIRE(running.ends());
  CHECK(running.end() == "exit 4");
  CHECK(running.loop.now() - start >= 150ms);
  CHECK(turn_until(running.loop, [&] { return !alive(grandchild); }));
}

TEST_CASE("processes left in the group at the end of a run are killed, even if they hold no pipe") {
  Running running(sh("sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; exit 0"));
  REQUIRE(running.says("\n"));
  const pid_t left = std::stoi(running.recorder.out);
  REQUIRE(running.ends());
  CHECK(running.end() == "exit 0");
  CHECK(turn_until(running.loop, [&] { return !alive(left); }));
}

TEST_CASE("output of a grandchild after the exit belongs to the run") {
  Running running(sh("(sleep 0.1; echo late) & exit 0"));
  REQUIRE(running.ends());
  CHECK(running.recorder.out == "late\n");
}

TEST_CASE("pipes held open by a process outside the group are closed 1 s after the kill") {
  // The child ends only after the other process has left its group.
  const char* leave = "exec 3>&1; echo $(setsid sh -c 'sleep 1000 >&3 & echo $!'); exit 0";
  Running running(with_grace(sh(leave), 50ms));
  REQUIRE(running.says("\n"));
  const pid_t runaway = std::stoi(running.recorder.out);
  REQUIRE(running.ends(10s));
  CHECK(running.end() == "exit 0");
  CHECK(alive(runaway));
  ::kill(runaway, SIGKILL);
}

TEST_CASE("a child that closes its outputs early ends when it exits") {
  Running running(sh("echo ready; exec >&- 2>&-; sleep 0.1; exit 5"));
  REQUIRE(running.says("ready"));
  REQUIRE(running.ends());
  CHECK(running.end() == "exit 5");
}

TEST_CASE("floods on both outputs are read in pieces in turn, with limited memory") {
  auto options = sh("yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx & yes eeeeeeeeeeeeeeeeeeee >&2");
  Running running(std::move(options));
  running.recorder.keep = false;
  const std::size_t before = resident();
  REQUIRE(turn_until(running.loop, [&] { return running.recorder.bytes > 100 * mebi; }));
  CHECK(running.recorder.largest_piece <= 64 * 1024);
  CHECK(resident() < before + 4 * mebi);
  running.child->kill();
  REQUIRE(running.ends());
}

TEST_CASE("a flood is read once per output in each loop iteration") {
  Running running(sh("yes & yes >&2"));
  running.recorder.keep = false;
  REQUIRE(turn_until(running.loop, [&] { return running.recorder.bytes > mebi; }));
  for (int i = 0; i < 100; ++i) {
    const std::size_t before = running.recorder.bytes;
    running.loop.iterate(true);
    CHECK(running.recorder.bytes - before <= 2 * 64 * 1024);
  }
}

TEST_CASE("a child that is destroyed while it runs is killed with its group, and reaped later") {
  Running running(sh("sleep 1000 & echo $!; wait"));
  REQUIRE(running.says("\n"));
  const pid_t child = running.child->pid();
  const pid_t grandchild = std::stoi(running.recorder.out);
  running.child.reset();
  CHECK(turn_until(running.loop, [&] { return !alive(child) && !alive(grandchild); }));
  CHECK_FALSE(running.recorder.end);
  CHECK(run(sh("exit 0")).code() == 0);
  CHECK(::kill(child, 0) == -1);  // reaped: no zombie is left
}

TEST_CASE("a signal is sent to the process alone") {
  Running running(sh("trap 'echo got; exit 0' USR1; sleep 0.2 & echo ready; wait"));
  REQUIRE(running.says("ready"));
  running.child->signal(SIGUSR1);
  REQUIRE(running.ends());
  CHECK(running.recorder.out == "ready\ngot\n");
}

TEST_CASE("a child in the group of the test is stopped alone") {
  auto options = sh("echo ready; exec sleep 1000");
  options.spawn.own_session = false;
  Running running(std::move(options));
  REQUIRE(running.says("ready"));
  running.child->stop();
  REQUIRE(running.ends());
  CHECK(running.end() == "signal 15 (SIGTERM)");
}

TEST_CASE("many children leave neither descriptors nor zombies") {
  CHECK(run(sh("exit 0")).code() == 0);
  const std::size_t before = open_descriptors();
  loop::Loop loop;
  const std::size_t with_loop = open_descriptors();
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<std::unique_ptr<process::Child>> children;
    for (int i = 0; i < 20; ++i) {
      auto options = command({i % 5 == 0 ? "/nonexistent" : "/bin/cat"});
      options.input = std::string(static_cast<std::size_t>(i) * 10'000, 'x');
      recorders.push_back(std::make_unique<Recorder>());
      children.push_back(
          std::make_unique<process::Child>(loop, std::move(options), *recorders.back()));
    }
    for (const auto& recorder : recorders)
      CHECK(turn_until(loop, [&] { return recorder->end.has_value(); }));
  }
  CHECK(open_descriptors() == with_loop);
  CHECK(with_loop > before);
}

}  // namespace child_test
