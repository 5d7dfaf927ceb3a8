// Records the deaths of runs, in a process outside of w8yd, so that no fault of w8yd or its runs
// affects it.
//
//   witness SOCKET JOURNAL
//
// Each run connects and sends its identity (run_recorder.cpp). When its connection ends, its
// process has closed its descriptors and does no more work. Then two lines are appended to the
// journal:
//   alive TIME HOST RUN FENCE PID ITEM    last time at which the run certainly lived
//   died  TIME HOST RUN FENCE PID ITEM    time at which its end was noticed
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <string>

namespace {

struct Run {
  std::string self;
  void* heartbeat = nullptr;
};

std::int64_t now_us() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int listen_at(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  umask(0);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 1024) != 0) {
    std::perror(path);
    _exit(1);
  }
  return listener;
}

/// Receives the identity of a run. Returns false if the connection has ended.
bool introduce(int connection, Run& run) {
  char text[256 * 1024];
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  iovec part{text, sizeof text};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (got <= 0) return false;
  run.self.assign(text, static_cast<std::size_t>(got));
  if (const cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr) {
    int page = -1;
    std::memcpy(&page, CMSG_DATA(control), sizeof page);
    run.heartbeat = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, page, 0);
    close(page);
  }
  return true;
}

void testify(int journal, const Run& run, std::int64_t seen) {
  if (run.heartbeat == nullptr || run.heartbeat == MAP_FAILED) return;
  const std::int64_t last = *static_cast<const volatile std::int64_t*>(run.heartbeat);
  munmap(run.heartbeat, sizeof(std::int64_t));
  const std::string lines = "alive " + std::to_string(last) + " " + run.self + "died " +
                            std::to_string(seen) + " " + run.self;
  if (write(journal, lines.data(), lines.size()) < 0) std::perror("journal");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int journal = open(argv[2], O_WRONLY | O_APPEND | O_CLOEXEC);
  const int listener = listen_at(argv[1]);
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [poller](int fd) {
    epoll_event event{EPOLLIN, {}};
    event.data.fd = fd;
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  std::map<int, Run> runs;
  for (;;) {
    epoll_event event{};
    if (epoll_wait(poller, &event, 1, -1) != 1) continue;
    const std::int64_t seen = now_us();
    const int fd = event.data.fd;
    if (fd == listener) {
      if (const int run = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC); run >= 0) watch(run);
    } else if (!introduce(fd, runs[fd])) {
      testify(journal, runs[fd], seen);
      runs.erase(fd);
      close(fd);
    }
  }
}
