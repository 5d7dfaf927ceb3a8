// An executor that writes down when it works on what: the only witness the fault tests believe.
//
// Appends to the file $JOURNAL, one line a write, times in microseconds of CLOCK_BOOTTIME:
//   start TIME HOST RUN FENCE PID ITEM
//   end   TIME HOST RUN FENCE PID ITEM
// The item comes by standard input, or as $ITEM from a w8y, which tells neither host nor run.
// Works for $WORK_MS milliseconds (default 20). With $ON_TERM=ignore it outlives a SIGTERM.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
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

void note(const char* what, const std::string& item) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::string line =
      std::string(what) + " " + std::to_string(now.tv_sec * 1000000 + now.tv_nsec / 1000) + " " +
      variable("W8Y_HOST", "w8y") + " " + variable("W8Y_RUN_ID", std::to_string(getpid()).c_str()) +
      " " + variable("W8Y_FENCE", "0") + " " + std::to_string(getpid()) + " " + item + "\n";
  const int file =
      open(variable("JOURNAL", "/dev/null").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0) _exit(9);
  close(file);
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

  note("start", item);
  timespec pause{};
  const long ms = std::atol(variable("WORK_MS", "20").c_str());
  pause.tv_sec = ms / 1000;
  pause.tv_nsec = ms % 1000 * 1000000;
  while (nanosleep(&pause, &pause) != 0) {
  }
  note("end", item);
  std::puts(R"({"type":"complete"})");
  return 0;
}
