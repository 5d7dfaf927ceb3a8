// An executor that writes down when it works on what: the only witness the fault tests believe.
//
// Appends to the file $JOURNAL (never makes it), one line a write, times in microseconds of
// CLOCK_BOOTTIME:
//   start TIME HOST RUN FENCE PID ITEM
//   end   TIME HOST RUN FENCE PID ITEM
//   alive TIME HOST RUN FENCE PID ITEM
//   died  TIME HOST RUN FENCE PID ITEM
// The last two come, if $WITNESS is set, from a process of its own that waits until the executor is
// gone, however that came about: when it is known to have lived last, and when it was seen gone.
// The item comes by standard input, or as $ITEM from a w8y, which tells neither host nor run.
// Works for $WORK_MS milliseconds (default 20). With $ON_TERM=ignore it outlives a SIGTERM.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::int64_t now_us() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void note(const char* what, std::int64_t when, const std::string& item, pid_t pid) {
  const std::string line =
      std::string(what) + " " + std::to_string(when) + " " + variable("W8Y_HOST", "w8y") + " " +
      variable("W8Y_RUN_ID", std::to_string(pid).c_str()) + " " + variable("W8Y_FENCE", "0") + " " +
      std::to_string(pid) + " " + item + "\n";
  const int file = open(variable("JOURNAL", "/dev/null").c_str(), O_WRONLY | O_APPEND);
  if (file < 0 || write(file, line.data(), line.size()) < 0) _exit(9);
  close(file);
}

/// Where a run writes down that it lives, for its witness to read.
using Beat = volatile std::int64_t;

/// Leaves the executor's session and outputs, so that nobody waits for it or kills it too.
Beat* leave_witness(const std::string& item) {
  void* page =
      mmap(nullptr, sizeof(Beat), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) _exit(8);
  Beat* beat = static_cast<Beat*>(page);
  *beat = now_us();
  const pid_t executor = getpid();
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, executor, 0));
  if (handle < 0) _exit(8);
  const pid_t witness = fork();
  if (witness < 0) _exit(8);
  if (witness > 0) {
    close(handle);
    return beat;
  }
  setsid();
  prctl(PR_SET_NAME, "witness");
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  pollfd gone{handle, POLLIN, 0};
  while (poll(&gone, 1, -1) != 1) {
  }
  const std::int64_t seen = now_us();
  note("alive", *beat, item, executor);
  note("died", seen, item, executor);
  _exit(0);
}

void work(long ms, Beat* beat) {
  constexpr std::int64_t step_us = 2000;  // with a witness: between two signs of life
  const std::int64_t until = now_us() + ms * 1000;
  for (std::int64_t left = ms * 1000; left > 0; left = until - now_us()) {
    if (beat != nullptr) *beat = now_us();
    const std::int64_t us = beat != nullptr ? std::min(left, step_us) : left;
    const timespec pause{us / 1000000, us % 1000000 * 1000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[argc - 1], "--caps") == 0) {
    std::puts(R"({"type":"caps","caps":["single"]})");
    return 0;
  }
  std::string item;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;)
    item.append(buffer, static_cast<std::size_t>(got));
  if (item.empty()) item = variable("ITEM", "");
  if (variable("ON_TERM", "") == "ignore") std::signal(SIGTERM, SIG_IGN);

  Beat* beat = variable("WITNESS", "").empty() ? nullptr : leave_witness(item);
  note("start", now_us(), item, getpid());
  work(std::atol(variable("WORK_MS", "20").c_str()), beat);
  note("end", now_us(), item, getpid());
  std::puts(R"({"type":"complete"})");
  return 0;
}
