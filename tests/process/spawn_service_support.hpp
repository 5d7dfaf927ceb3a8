// Loop with a spawn service, and obstacles to the start of a child.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "process/orphans.hpp"
#include "process/spawn_service.hpp"
#include "process/temp_directory.hpp"
#include "process/unreaped_children.hpp"
#include "process_support.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

/// User ID that neither an account nor another test uses: it may signal only processes of this
/// test.
inline const uid_t stranger = 200'000 + static_cast<uid_t>(getpid());

inline process::SpawnServiceOptions by_doomed(Duration limit) {
  process::SpawnServiceOptions options;
  options.helper = {DOOMED_PROGRAM, "--spawn-helper"};
  options.limit = limit;
  return options;
}

/// Loop with a service. Measures the longest time during which the loop was blocked.
struct Served {
  explicit Served(Duration limit = 10s) : service(loop, by_doomed(limit)), tick(loop.timers()) {
    heartbeat();
  }
  process::ChildOptions prepared(process::ChildOptions options, bool as_stranger = true) {
    options.service = &service;
    if (as_stranger) options.spawn.credentials = process::Credentials{stranger, stranger, {}};
    return options;
  }
  Result run(process::ChildOptions options) {
    Recorder recorder;
    process::Child child(loop, std::move(options), recorder);
    REQUIRE(turn_until(loop, [&] { return recorder.end.has_value(); }));
    return {recorder.out, recorder.err, *recorder.end};
  }
  void heartbeat() {
    const Instant now = loop.now();
    max_gap = std::max(max_gap, now - last_heartbeat.value_or(now));
    last_heartbeat = now;
    tick.set(now + 5ms, [this] { heartbeat(); });
  }
  /// Resets the measurement: earlier delays may be those of a busy machine.
  void start_to_measure() {
    max_gap = Duration{0};
    last_heartbeat = loop.now();
  }

  loop::Loop loop;
  process::SpawnService service;
  Timer tick;
  std::optional<Instant> last_heartbeat;
  Duration max_gap{0};
};

inline bool host_is_short(const ProcessEnd& end) {
  const auto* unstarted = std::get_if<NotStarted>(&end);
  return unstarted != nullptr && unstarted->host_is_short;
}

/// Process of the stranger that runs `act` while the object exists.
class Villain {
 public:
  template <typename Act>
  explicit Villain(Act&& act) {
    std::array<int, 2> ready{};
    REQUIRE(pipe(ready.data()) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (setgid(stranger) != 0 || setuid(stranger) != 0) _exit(1);
      act([fd = ready[1]] { return write(fd, "+", 1) == 1; });
      _exit(0);
    }
    close(ready[1]);
    char sign = 0;
    acts_ = read(ready[0], &sign, 1) == 1;
    close(ready[0]);
  }
  ~Villain() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Villain(const Villain&) = delete;
  Villain& operator=(const Villain&) = delete;
  [[nodiscard]] bool acts() const { return acts_; }

 private:
  pid_t pid_ = 0;
  bool acts_ = false;
};

/// File lease (F_SETLEASE) on a program of the stranger. It delays each open of the program by the
/// lease break time of the host, which is 45 s by default.
struct Leased {
  Leased() {
    program = directory.script("leased", "echo ran");
    REQUIRE(chown(program.c_str(), stranger, stranger) == 0);
    holder.emplace([this](auto&& tell) {
      signal(SIGIO, SIG_IGN);
      const int fd = open(program.c_str(), O_RDWR);
      if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) != 0 || !tell()) return;
      for (;;) pause();
    });
  }
  TempDir directory;
  std::string program;
  std::optional<Villain> holder;
};

/// File system that does not respond while /dev/fuse is open.
class Hung {
 public:
  explicit Hung(std::string directory)
      : directory_(std::move(directory)), device_(open("/dev/fuse", O_RDWR | O_NONBLOCK)) {
    mkdir(directory_.c_str(), 0755);
    const std::string how =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    mounted_ = device_ && mount("w8y-test", directory_.c_str(), "fuse", 0, how.c_str()) == 0;
  }
  ~Hung() {
    device_.reset();
    if (mounted_) umount2(directory_.c_str(), MNT_DETACH);
  }
  Hung(const Hung&) = delete;
  Hung& operator=(const Hung&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }
  /// Reads requests as if to reply. From then on their senders cannot be killed. Returns true after
  /// a request other than the initial one.
  bool read_request() {
    std::array<char, 1U << 17> bytes{};
    fuse_in_header asked{};
    for (;;) {
      if (read(device_.get(), bytes.data(), bytes.size()) < static_cast<ssize_t>(sizeof asked))
        return asked.len > 0 && asked.opcode != FUSE_INIT;
      std::memcpy(&asked, bytes.data(), sizeof asked);
      if (asked.opcode == FUSE_INIT) introduce(asked.unique);
    }
  }

 private:
  void introduce(std::uint64_t unique) {
    struct {
      fuse_out_header header;
      fuse_init_out init;
    } answer{};
    answer.header = {sizeof answer, 0, unique};
    answer.init.major = FUSE_KERNEL_VERSION;
    answer.init.minor = 31;
    answer.init.max_write = 4096;
    REQUIRE(write(device_.get(), &answer, sizeof answer) == sizeof answer);
  }

  std::string directory_;
  Fd device_;
  bool mounted_ = false;
};

/// Returns whether a process has these bytes anywhere in its memory.
inline bool has_in_memory(pid_t pid, const std::string& bytes) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  const Fd memory(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY));
  REQUIRE(memory);
  std::size_t read_in_all = 0;
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx r", &from, &to) != 2) continue;
    if (to - from > (1UL << 28)) continue;
    std::string part(to - from, '\0');
    const ssize_t got = pread(memory.get(), part.data(), part.size(), static_cast<off_t>(from));
    if (got <= 0) continue;
    read_in_all += static_cast<std::size_t>(got);
    const std::size_t at = part.find(bytes);
    if (at == std::string::npos) continue;
    found = true;
  }
  CHECK(read_in_all > 100'000);
  return found;
}

inline bool can_not_be_tried() {
  if (is_root()) return false;
  MESSAGE("needs root: skipped");
  return true;
}

}  // namespace w8y::test
