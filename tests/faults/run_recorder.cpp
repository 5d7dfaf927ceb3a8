// Executor that records its runs. The fault tests trust only these records.
//
// Appends to the file $JOURNAL (never creates it), one line per write, times in microseconds of
// CLOCK_BOOTTIME:
//   start TIME HOST RUN FENCE PID ITEM
//   end   TIME HOST RUN FENCE PID ITEM
// If $WITNESS is the socket of a witness (witness.cpp), the witness records the death of the
// process, whatever its cause.
//
// The item arrives on standard input, or as $ITEM from a w8y, which passes neither host nor run.
// For a long item, its start and its length are recorded: "<start>+<bytes>".
// Works for $WORK_MS milliseconds (default 20). With $ON_TERM=ignore it survives a SIGTERM.
// Writes $SAY bytes to standard error (default 0), in lines.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
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

constexpr std::size_t long_item = 1024;
constexpr std::size_t beginning = 32;

/// Returns the part of a journal line after the time, which is the same in each line of this run.
std::string identity(std::string item) {
  if (item.size() > long_item) item = item.substr(0, beginning) + '+' + std::to_string(item.size());
  const std::string pid = std::to_string(getpid());
  return variable("W8Y_HOST", "w8y") + " " + variable("W8Y_RUN_ID", pid.c_str()) + " " +
         variable("W8Y_FENCE", "0") + " " + pid + " " + item + "\n";
}

void note(const char* what, const std::string& self) {
  const std::string line = std::string(what) + " " + std::to_string(now_us()) + " " + self;
  const int file = open(variable("JOURNAL", "/dev/null").c_str(), O_WRONLY | O_APPEND);
  if (file < 0 || write(file, line.data(), line.size()) < 0) _exit(9);
  close(file);
}

/// Time of the last sign of life of a run, in memory that its witness reads.
using Beat = volatile std::int64_t;

/// Connects to the witness, and sends the identity and a page of memory for signs of life. The
/// connection stays open while the process lives.
Beat* find_witness(const std::string& path, const std::string& self) {
  const int page = memfd_create("beat", MFD_CLOEXEC);
  if (page < 0 || ftruncate(page, sizeof(Beat)) != 0) _exit(8);
  void* shared = mmap(nullptr, sizeof(Beat), PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  if (shared == MAP_FAILED) _exit(8);
  Beat* heartbeat = static_cast<Beat*>(shared);
  *heartbeat = now_us();

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int witness = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(witness, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) _exit(8);
  iovec text{const_cast<char*>(self.data()), self.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &page, sizeof page);
  if (sendmsg(witness, &message, MSG_NOSIGNAL) < 0) _exit(8);
  close(page);
  return heartbeat;
}

void work(long ms, Beat* heartbeat) {
  constexpr std::int64_t step_us = 2000;  // with a witness: interval of signs of life
  const std::int64_t until = now_us() + ms * 1000;
  for (std::int64_t left = ms * 1000; left > 0; left = until - now_us()) {
    if (heartbeat != nullptr) *heartbeat = now_us();
    const std::int64_t us = heartbeat != nullptr ? std::min(left, step_us) : left;
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

  const std::string self = identity(item);
  const std::string witness = variable("WITNESS", "");
  Beat* heartbeat = witness.empty() ? nullptr : find_witness(witness, self);
  note("start", self);
  work(std::atol(variable("WORK_MS", "20").c_str()), heartbeat);
  std::string line(1023, 'x');
  line += '\n';
  for (long left = std::atol(variable("SAY", "0").c_str()); left > 0;
       left -= static_cast<long>(line.size()))
    std::fputs(line.c_str(), stderr);
  note("end", self);
  std::puts(R"({"type":"complete"})");
  return 0;
}
