// Grandchildren that outlive their parents, on a host without control groups.
#include "process/orphans.hpp"

#include <doctest/doctest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "process_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace orphans_test {
namespace {

/// Not even a zombie.
bool gone(pid_t pid) {
  return ::kill(pid, 0) == -1;
}

/// Runs a script that leaves something in a session of its own, away from its outputs.
struct Leaving {
  explicit Leaving(const std::string& script) : child(loop, sh(script), recorder) {}
  bool says_pid() {
    return turn_until(loop, [&] { return recorder.out.find('\n') != std::string::npos; });
  }
  bool ends() {
    return turn_until(loop, [&] { return recorder.end.has_value(); });
  }
  [[nodiscard]] pid_t pid() const { return std::stoi(recorder.out); }

  loop::Loop loop;
  process::Orphans orphans{loop};
  Recorder recorder;
  process::Child child;
};

const std::string leave =
    "setsid sh -c 'echo $$ >&3; exec sleep TIME 3>&-' 3>&1 >/dev/null 2>&1 & ";

std::string leave_for(const std::string& seconds) {
  std::string script = leave;
  return script.replace(script.find("TIME"), 4, seconds);
}

/// It ends once the shell that started it is gone, however long that takes on a busy machine: what
/// ends before is that shell's to reap.
const std::string leave_an_orphan =
    "setsid sh -c 'echo $$ >&3; exec 3>&-; while kill -0 \"$1\"; do sleep 0.01; done' sh $$ "
    "3>&1 >/dev/null 2>&1 & ";

/// A child of ours that has exited, and was not reaped.
pid_t make_zombie() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  return pid;
}

/// Whether nobody has reaped it, which is done now.
bool is_still_ours(pid_t pid) {
  return waitpid(pid, nullptr, WNOHANG) == pid;
}

}  // namespace

TEST_CASE("a child that was asked for while all processes were looked at is no orphan") {
  const pid_t known = make_zombie();  // the oldest: it hides the others
  process::started_children().insert(known);
  const pid_t unknown = make_zombie();
  const pid_t orphan = make_zombie();
  {
    loop::Loop loop;
    const process::Orphans orphans(loop);
    REQUIRE(orphans.scanning());
    ++process::announced_children().asked;  // a helper has started it, and has yet to say so
    CHECK(turn_until(loop, [&] { return !orphans.scanning(); }));
    CHECK(orphans.reaped() == 0);
    process::started_children().insert(unknown);
    ++process::announced_children().answered;
    CHECK(turn_until(loop, [&] { return gone(orphan); }));
    CHECK(orphans.reaped() == 1);
  }
  for (const pid_t pid : {known, unknown}) {
    CHECK(is_still_ours(pid));
    process::started_children().erase(pid);
  }
}

TEST_CASE("an orphan that exits leaves no zombie, and our own children keep their ends") {
  Leaving left(leave_an_orphan + "until kill -0 -$! 2>/dev/null; do sleep 0.01; done; exit 7");
  REQUIRE(left.says_pid());
  REQUIRE(left.ends());
  CHECK(end_text(*left.recorder.end) == "exit 7");
  CHECK(turn_until(left.loop, [&] { return gone(left.pid()); }));
  CHECK(left.orphans.reaped() >= 1);
}

TEST_CASE(
    "they are looked for beside the loop, while a child has exited and waits for its outputs") {
  Leaving left(leave_for("0.3") + "sleep 1000 & sleep 0.05; exit 0");
  REQUIRE(left.says_pid());
  CHECK(turn_until(left.loop, [&] { return gone(left.pid()); }));
  CHECK_FALSE(left.recorder.end);
  left.child.kill();
  CHECK(left.ends());
}

TEST_CASE("many children end right while orphans are looked for") {
  loop::Loop loop;
  const process::Orphans orphans(loop);
  for (int i = 0; i < 200; ++i) {
    Recorder recorder;
    process::Child child(loop, sh("exit " + std::to_string(i % 100)), recorder);
    REQUIRE(turn_until(loop, [&] { return recorder.end.has_value(); }));
    CHECK(end_text(*recorder.end) == "exit " + std::to_string(i % 100));
  }
  CHECK(process::started_children().empty());
}

TEST_CASE("at the end orphans are killed, with what they leave themselves; nobody else is") {
  process::SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  process::Spawned before;
  REQUIRE_FALSE(process::spawn(request, before));
  const process::Fd pidfd(before.pidfd);

  Leaving left(
      "setsid sh -c 'sleep 1000 3>&- & echo $$ $! >&3; exec 3>&-; wait' 3>&1 >/dev/null 2>&1 & "
      "sleep 0.1; exit 0");
  REQUIRE(left.says_pid());
  REQUIRE(left.ends());
  const std::string& out = left.recorder.out;
  const pid_t below = std::stoi(out.substr(out.find(' ')));
  CHECK(alive(left.pid()));
  CHECK(left.orphans.kill_all() == 2);
  CHECK(gone(left.pid()));
  CHECK(gone(below));
  CHECK(left.orphans.kill_all() == 0);
  CHECK(alive(before.pid));
  ::kill(before.pid, SIGKILL);
  CHECK(turn_until(left.loop, [&] { return gone(before.pid); }));  // reaped, though
}

TEST_CASE("at the end, one that its tracer keeps as a zombie is not waited for") {
  Leaving left(leave_for("1000") + "sleep 0.05; exit 0");
  REQUIRE(left.says_pid());
  REQUIRE(left.ends());
  std::array<int, 2> ready{};
  REQUIRE(pipe(ready.data()) == 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    const bool traces = ptrace(PTRACE_SEIZE, left.pid(), nullptr, nullptr) == 0;
    if (write(ready[1], traces ? "+" : "-", 1) == 1)
      for (;;) pause();
    _exit(1);
  }
  process::started_children().insert(tracer);
  char sign = 0;
  REQUIRE(read(ready[0], &sign, 1) == 1);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(left.orphans.kill_all(20ms) == 1);
  if (sign == '+') {
    CHECK(std::chrono::steady_clock::now() - begin < 10s);
    CHECK_FALSE(gone(left.pid()));
    // On a busy machine its end can take longer than that limit: it would be killed once more.
    CHECK(turn_until(left.loop, [&] { return !alive(left.pid()); }));
  } else {
    MESSAGE("may not trace here");
  }
  ::kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  process::started_children().erase(tracer);
  close(ready[0]);
  close(ready[1]);
  CHECK(left.orphans.kill_all() == 0);
  CHECK(gone(left.pid()));
}

}  // namespace orphans_test
