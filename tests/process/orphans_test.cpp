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

/// Returns true if the process does not exist, not even as a zombie.
bool gone(pid_t pid) {
  return ::kill(pid, 0) == -1;
}

/// Runs a script that leaves a process in its own session, without the outputs of the script.
struct Leaving {
  explicit Leaving(const std::string& script) : child(loop, sh(script), recorder) {}
  bool prints_pid() {
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

/// The process ends after the shell that started it has exited, however long that takes. If it
/// ended earlier, that shell would need to reap it.
const std::string leave_an_orphan =
    "setsid sh -c 'echo $$ >&3; exec 3>&-; while kill -0 \"$1\"; do sleep 0.01; done' sh $$ "
    "3>&1 >/dev/null 2>&1 & ";

/// Returns a child of this process that has exited and was not reaped.
pid_t make_zombie() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  return pid;
}

/// Returns true if the child was not reaped before. Reaps it.
bool is_still_ours(pid_t pid) {
  return waitpid(pid, nullptr, WNOHANG) == pid;
}

}  // namespace

TEST_CASE("a child requested from the helper during a scan is not an orphan") {
  const pid_t known = make_zombie();  // the oldest zombie: it hides the others
  process::started_children().insert(known);
  const pid_t unknown = make_zombie();
  const pid_t orphan = make_zombie();
  {
    loop::Loop loop;
    const process::Orphans orphans(loop);
    REQUIRE(orphans.scanning());
    ++process::announced_children().requested;  // a helper has started it, but not reported it yet
    CHECK(turn_until(loop, [&] { return !orphans.scanning(); }));
    CHECK(orphans.reaped() == 0);
    process::started_children().insert(unknown);
    ++process::announced_children().replied;
    CHECK(turn_until(loop, [&] { return gone(orphan); }));
    CHECK(orphans.reaped() == 1);
  }
  for (const pid_t pid : {known, unknown}) {
    CHECK(is_still_ours(pid));
    process::started_children().erase(pid);
  }
}

TEST_CASE("an orphan that exits leaves no zombie, and children of w8yd keep their exit status") {
  Leaving left(leave_an_orphan + "until kill -0 -$! 2>/dev/null; do sleep 0.01; done; exit 7");
  REQUIRE(left.prints_pid());
  REQUIRE(left.ends());
  CHECK(end_text(*left.recorder.end) == "exit 7");
  CHECK(turn_until(left.loop, [&] { return gone(left.pid()); }));
  CHECK(left.orphans.reaped() >= 1);
}

TEST_CASE(
    "orphans are reaped without blocking the loop, even while an exited child has open outputs") {
  Leaving left(leave_for("0.3") + "sleep 1000 & sleep 0.05; exit 0");
  REQUIRE(left.prints_pid());
  CHECK(turn_until(left.loop, [&] { return gone(left.pid()); }));
  CHECK_FALSE(left.recorder.end);
  left.child.kill();
  CHECK(left.ends());
}

TEST_CASE("many children end with their exit status while orphans are reaped") {
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

TEST_CASE("orphans and their children are killed at the end, and no other process") {
  process::SpawnRequest request;
  request.program = "/bin/sleep";
  request.argv = {"sleep", "1000"};
  process::Spawned before;
  REQUIRE_FALSE(process::spawn(request, before));
  const Fd pidfd(before.pidfd);

  Leaving left(
      "setsid sh -c 'sleep 1000 3>&- & echo $$ $! >&3; exec 3>&-; wait' 3>&1 >/dev/null 2>&1 & "
      "sleep 0.1; exit 0");
  REQUIRE(left.prints_pid());
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
  CHECK(turn_until(left.loop, [&] { return gone(before.pid); }));  // reaped as well
}

TEST_CASE("an orphan kept as a zombie by its tracer is not waited for at the end") {
  Leaving left(leave_for("1000") + "sleep 0.05; exit 0");
  REQUIRE(left.prints_pid());
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
    // Waits until the orphan is dead, which may take longer than 20 ms on a busy machine. Without
    // the wait, the orphan would be counted again.
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
