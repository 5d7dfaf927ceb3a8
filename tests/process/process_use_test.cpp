// Resources of an active process.
#include "process/process_use.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

using namespace w8y;
using namespace std::chrono_literals;

TEST_CASE("the resource use of a process has its CPU time and its peak memory") {
  volatile unsigned work = 0;
  timespec used{};
  do {
    for (int i = 0; i < 1'000'000; ++i) work = work + 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (used.tv_sec == 0 && used.tv_nsec < 50'000'000);
  const ResourceUse use = process::process_use(getpid());
  REQUIRE(use.cpu);
  CHECK(*use.cpu >= 20ms);
  REQUIRE(use.peak_memory);
  CHECK(*use.peak_memory > 1'000'000);
}

TEST_CASE("a process that has ended has no peak memory, and a missing one has no resource use") {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  REQUIRE(pid > 0);
  siginfo_t info{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(process::process_use(pid).peak_memory);
  REQUIRE(waitpid(pid, nullptr, 0) == pid);
  CHECK_FALSE(process::process_use(pid).cpu);
}
