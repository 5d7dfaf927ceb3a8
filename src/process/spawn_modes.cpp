#include "process/spawn_modes.hpp"

#include <elf.h>
#include <linux/magic.h>
#include <sys/eventfd.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/fd.hpp"
#include "core/trusted_path.hpp"
#include "loop/loop.hpp"
#include "loop/watch.hpp"

namespace w8y::process {

namespace {

constexpr std::size_t max_known = 4096;
constexpr int max_threads = 16;  // each of them may block
constexpr Duration stuck_after = std::chrono::milliseconds(50);
/// Time for which a result is kept if a file was missing.
constexpr Duration once = std::chrono::milliseconds(100);
constexpr int max_interpreters = 5;  // limit of the kernel

/// Returns whether a file system depends on this machine only. Not all have a name in
/// linux/magic.h.
bool is_local(int fd) {
  constexpr std::array<std::uint32_t, 14> local = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                                   BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                                   RAMFS_MAGIC,       F2FS_SUPER_MAGIC,
                                                   0x2fc12fc1,        OVERLAYFS_SUPER_MAGIC,
                                                   PROC_SUPER_MAGIC,  SQUASHFS_MAGIC,
                                                   0xe0f5e1e2,        ISOFS_SUPER_MAGIC,
                                                   0xca451a4e,        0x4d44};
  struct statfs status {};
  if (fstatfs(fd, &status) != 0) return false;
  const auto type = static_cast<std::uint32_t>(status.f_type);
  return std::find(local.begin(), local.end(), type) != local.end();
}

/// Returns a PathWalk that trusts local file systems only. It checks each file system once.
PathWalk local_walk() {
  PathWalk walk;
  walk.also = geteuid();
  walk.check = [seen = std::vector<dev_t>()](int fd, const struct stat& status) mutable {
    if (std::find(seen.begin(), seen.end(), status.st_dev) != seen.end()) return std::string();
    if (!is_local(fd)) return std::string("is on a file system that other users can delay");
    seen.push_back(status.st_dev);
    return std::string();
  };
  return walk;
}

/// Returns the interpreter in ELF's program headers; empty: none.
template <typename Header, typename Segment>
std::optional<std::string> elf_interpreter(int fd, const std::string& start) {
  Header header{};
  if (start.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, start.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Segment segment{};
    const auto at = static_cast<off_t>(header.e_phoff + std::uint64_t{i} * header.e_phentsize);
    if (pread(fd, &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment))
      return std::nullopt;
    if (segment.p_type != PT_INTERP) continue;
    std::string name(std::min<std::size_t>(segment.p_filesz, 4096), '\0');
    if (pread(fd, name.data(), name.size(), static_cast<off_t>(segment.p_offset)) < 0)
      return std::nullopt;
    name.resize(std::min(name.find('\0'), name.size()));
    return name;
  }
  return std::string();
}

/// Returns the file that the kernel opens together with the program; empty: none; nullopt: unknown.
std::optional<std::string> interpreter_of(int fd) {
  std::string start(256, '\0');
  const ssize_t got = pread(fd, start.data(), start.size(), 0);
  if (got < 0) return std::nullopt;
  start.resize(static_cast<std::size_t>(got));
  if (start.starts_with("#!")) {
    const std::size_t from = start.find_first_not_of(" \t", 2);
    if (from == std::string::npos) return std::nullopt;
    return start.substr(from, start.find_first_of(" \t\n", from) - from);
  }
  if (!start.starts_with(ELFMAG) || start.size() <= EI_CLASS) return std::nullopt;
  if (start[EI_CLASS] == ELFCLASS64) return elf_interpreter<Elf64_Ehdr, Elf64_Phdr>(fd, start);
  return elf_interpreter<Elf32_Ehdr, Elf32_Phdr>(fd, start);
}

/// Opens a program and then each of its interpreters, as the kernel does. Returns the first one
/// that `walk` does not trust, or the last one.
TrustedFile open_program(std::string program, const PathWalk& walk) {
  for (int depth = 0;; ++depth) {
    TrustedFile file = open_trusted(program, walk);
    if (!file.problem.empty()) {
      file.problem = program + ' ' + file.problem;
      return file;
    }
    auto next = interpreter_of(file.fd.get());
    if (next && next->empty()) return file;
    if (next && !next->starts_with('/')) {
      // The kernel resolves it in the run's working directory, which another user may own.
      file.error = EACCES;
      file.problem = program + " names an interpreter without an absolute path: " + *next;
      return file;
    }
    if (!next || depth == max_interpreters) {
      file.error = ENOEXEC;
      file.problem = program + " has no known interpreter";
      return file;
    }
    program = std::move(*next);
  }
}

/// A missing file makes the start fail at once, but another user's file may appear there later.
bool is_good(const TrustedFile& file, bool& lasts) {
  if (file.problem.empty()) return true;
  lasts = false;
  return file.error == ENOENT || file.error == ENOTDIR;
}

std::string key_of(const SpawnRequest& request) {
  const std::string& cwd = request.cwd_is_fresh ? std::string() : request.cwd;
  return request.program + '\0' + cwd + '\0' + request.env_file;
}

}  // namespace

bool is_ours_and_local(const std::string& program, const std::string& cwd,
                       const std::string& env_file, bool& lasts) {
  lasts = true;
  if (!program.starts_with('/') || !is_good(open_program(program, local_walk()), lasts))
    return false;
  if (!cwd.empty() && !is_good(open_trusted_directory(cwd, local_walk()), lasts)) return false;
  return env_file.empty() || is_good(open_trusted(env_file, local_walk()), lasts);
}

std::string distrust_of_program(const std::string& program) {
  const TrustedFile file = open_program(program, {});
  return file.error == EACCES ? file.problem : std::string();
}

/// State shared by all threads. Other threads may be blocked forever, so they keep it alive.
struct SpawnModes::Shared {
  struct News {
    std::string key;
    bool direct = false;
    bool lasts = false;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> requested;
  std::vector<News> news;
  Fd event;
  int threads = 0;
  int idle = 0;
  Instant started;  ///< start of the last check, by `clock`
  bool done = false;
  loop::SystemClock clock;

  static News check(const std::string& key) {
    News found{key};
    const std::size_t first = key.find('\0');
    const std::size_t second = key.find('\0', first + 1);
    found.direct =
        is_ours_and_local(key.substr(0, first), key.substr(first + 1, second - first - 1),
                          key.substr(second + 1), found.lasts);
    return found;
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      changed.wait(lock, [this] { return done || !requested.empty(); });
      --idle;
      if (done) return;
      started = clock.now();
      const std::string key = std::move(requested.front());
      requested.pop_front();
      lock.unlock();
      News found = check(key);
      lock.lock();
      if (done) return;
      news.push_back(std::move(found));
      const std::uint64_t one = 1;
      if (write(event.get(), &one, sizeof one) < 0) continue;  // the loop has been woken already
    }
  }
};

SpawnModes::SpawnModes(loop::Loop& loop, std::function<void()> on_news)
    : loop_(loop), on_news_(std::move(on_news)) {}

SpawnModes::~SpawnModes() {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->done = true;
  shared_->changed.notify_all();
}

SpawnModes::SpawnMode SpawnModes::way(const SpawnRequest& request) {
  if (request.credentials && request.credentials->uid != geteuid()) return SpawnMode::by_helper;
  const std::string key = key_of(request);
  if (known_.size() >= max_known) known_.clear();
  Known& known = known_[key];
  const Instant now = loop_.now();
  if (known.direct && now < known.until)
    return *known.direct ? SpawnMode::direct : SpawnMode::by_helper;
  if (known.direct || !known.requested) {
    known.direct.reset();
    known.requested = now;
    this->request(key);
  } else if (now - *known.requested >= timeout) {
    relieve();
    return SpawnMode::by_helper;
  }
  return SpawnMode::unknown;
}

void SpawnModes::request(const std::string& key) {
  if (!shared_) {
    auto made = std::make_shared<Shared>();
    made->event = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!made->event) throw std::system_error(errno, std::generic_category(), "eventfd");
    made->started = loop_.now();
    watch_ = std::make_unique<loop::Watch>(loop_, made->event.get(),
                                           [this](bool, bool) { handle_events(); });
    watch_->want(true, false);
    watch_->keep_loop_alive(false);
    shared_ = std::move(made);
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->requested.push_back(key);
    shared_->changed.notify_one();
  }
  relieve();
}

/// Starts another thread if all others are blocked.
void SpawnModes::relieve() {
  const std::lock_guard lock(shared_->mutex);
  const bool stuck = shared_->idle == 0 && loop_.now() - shared_->started >= stuck_after;
  if (shared_->threads > 0 && (!stuck || shared_->threads >= max_threads)) return;
  try {
    std::thread([made = shared_] { made->work(); }).detach();
    ++shared_->threads;
  } catch (const std::system_error&) {
    // Without a thread there are no checks: each start uses the helper after `timeout`.
  }
}

void SpawnModes::handle_events() {
  std::uint64_t ignored = 0;
  if (read(shared_->event.get(), &ignored, sizeof ignored) < 0) return;
  std::vector<Shared::News> news;
  {
    const std::lock_guard lock(shared_->mutex);
    news.swap(shared_->news);
  }
  const Instant now = loop_.now();
  for (const auto& found : news) {
    const auto known = known_.find(found.key);
    if (known == known_.end()) continue;
    known->second.direct = found.direct;
    known->second.until = now + (found.lasts ? lasting : once);
  }
  on_news_();
}

}  // namespace w8y::process
