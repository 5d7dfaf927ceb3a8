#include "process/captured_run.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "loop/background.hpp"
#include "loop/loop.hpp"
#include "process/orphans.hpp"
#include "process/signals_blocked.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

using namespace w8y;
using namespace w8y::process;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace brief_run_test {
namespace {

CaptureResult sh(const std::string& script, Duration timeout = 20s, std::size_t most = 1 << 20) {
  return run_and_capture({{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "A=b"}, timeout, most});
}

}  // namespace

TEST_CASE("a captured run returns the complete standard output and nothing else") {
  const CaptureResult result = sh("cat; echo \"$A\"; pwd; echo no >&2");
  CHECK(result.problem == "");
  CHECK(result.output == "b\n/\n");
  CHECK(sh("head -c 300000 /dev/zero").output.size() == 300000);
}

TEST_CASE("a captured run that fails returns a reason") {
  CHECK(sh("echo some; printf 'first\\nno \\033 database\\n\\n' >&2; exit 3").problem ==
        "exits with status 3: no \\e database");
  CHECK(sh("exit 1").problem == "exits with status 1");
  CHECK(sh("kill -TERM $$").problem == "is killed by SIGTERM");
  CHECK(sh("yes", 20s, 100'000).problem == "prints more than 0 MiB");
  CHECK(run_and_capture({{"/nowhere/x"}, {}, 1s}).problem ==
        "cannot be started: cannot run /nowhere/x: No such file or directory");
}

TEST_CASE("a captured program that does not end is killed with its children") {
  const TempDir directory;
  const std::string file = directory / "alive";
  CHECK(sh("(sleep 1; touch " + file + ") & sleep 100", 100ms).problem ==
        "does not end within 100ms");
  CHECK(sh("(sleep 1; touch " + file + ") & echo done").output == "done\n");
  loop::Loop loop;
  Timer timer(loop.timers());
  bool later = false;
  timer.set(loop.now() + 1500ms, [&] { later = true; });
  CHECK(turn_until(loop, [&] { return later; }));
  CHECK(access(file.c_str(), F_OK) != 0);
}

TEST_CASE("a pending SIGTERM kills the captured program") {
  const SignalsBlocked blocked{SIGTERM};
  raise(SIGTERM);  // for this thread only: other threads of the program do not block it
  CHECK(sh("sleep 100 & sleep 100").problem == "is killed because w8yd ends");
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGTERM);
  CHECK(sigwaitinfo(&one, nullptr) == SIGTERM);  // still pending after the run
}

TEST_CASE("orphan reaping leaves the exit status of a captured program to its caller") {
  loop::Loop loop;
  Orphans orphans(loop);
  int over = 0;
  std::vector<std::string> problems(20);
  for (std::string& problem : problems)
    REQUIRE(loop::in_background(
        loop, [&problem] { problem = sh("sleep 0.01; exit 3").problem; }, [&over] { ++over; }));
  CHECK(turn_until(loop, [&] { return over == 20; }));
  for (const std::string& problem : problems) CHECK(problem == "exits with status 3");
  CHECK_FALSE(runs_briefly());
}

}  // namespace brief_run_test
