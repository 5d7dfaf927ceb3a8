#include "process/remove_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "process/error_text.hpp"
#include "process/fd.hpp"

namespace w8y::process {

namespace {

using OpenFolder = std::unique_ptr<DIR, int (*)(DIR*)>;

constexpr int as_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// What is mounted there may not even answer: this asks nobody.
bool is_on(int folder, const char* name, dev_t device) {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (statx(folder, name, flags, STATX_TYPE, &status) != 0) return true;  // the next call says why
  return makedev(status.stx_dev_major, status.stx_dev_minor) == device;
}

/// For its owner, who may have taken the right to it from himself. Of that very folder.
void make_accessible(int folder, const char* name) {
  const Fd fd(openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), 0700);
}

bool is_dots(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

}  // namespace

/// One piece of the work: `top_` is the folder itself.
class FolderRemoval::Turn {
 public:
  Turn(FolderRemoval& whole, int top, Duration limit)
      : whole_(whole), top_(top), until_(std::chrono::steady_clock::now() + limit) {}

  /// Each entry of the top once. False: the time is over.
  bool look(DIR* top) {
    for (const dirent* entry = nullptr; (entry = readdir(top)) != nullptr;) {
      if (is_dots(entry->d_name)) continue;
      seen_ = true;
      if (!remove(entry->d_name) || over()) return false;
    }
    return true;
  }
  [[nodiscard]] bool seen() const { return seen_; }
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  [[nodiscard]] bool over() {
    // The clock is asked seldom: most entries take a microsecond.
    return ++steps_ % 64 == 0 && std::chrono::steady_clock::now() >= until_;
  }

  /// Removes a name from a folder, if it is a file or an empty folder.
  bool drop(int folder, const char* name) {
    if (unlinkat(folder, name, 0) == 0) return changed_ = true;
    if (errno == ENOENT) return true;
    if (errno != EISDIR && errno != EPERM) return false;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return changed_ = true;
    return errno == ENOENT;
  }

  /// False: the time is over.
  bool remove(const char* name) {
    if (drop(top_, name)) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) return note(name);
    if (!is_on(top_, name, whole_.device_)) {
      errno = EXDEV;
      return note(name);
    }
    int fd = openat(top_, name, as_folder);
    if (fd < 0 && errno == EACCES) {
      make_accessible(top_, name);
      fd = openat(top_, name, as_folder);
    }
    if (fd < 0) return note(name);
    const OpenFolder folder(fdopendir(fd), closedir);
    if (!folder) {
      close(fd);
      return note(name);
    }
    if (!empty(folder.get(), name)) return false;
    if (!drop(top_, name) && errno != ENOTEMPTY && errno != EEXIST) note(name);
    return true;
  }

  bool empty(DIR* folder, const char* name) {
    const int fd = dirfd(folder);
    bool opened = false;
    for (const dirent* entry = nullptr; (entry = readdir(folder)) != nullptr;) {
      if (is_dots(entry->d_name)) continue;
      if (!drop(fd, entry->d_name) && !lift(fd, entry->d_name)) {
        if ((errno == EACCES || errno == EPERM) && !std::exchange(opened, true)) {
          make_accessible(top_, name);
          if (drop(fd, entry->d_name) || lift(fd, entry->d_name)) continue;
        }
        note(entry->d_name);
      }
      if (over()) return false;
    }
    return true;
  }

  /// A folder that is not empty goes up to the top, where its turn comes.
  bool lift(int folder, const char* name) {
    const int why = errno;
    if (why != ENOTEMPTY && why != EEXIST) return false;
    const auto move = [&] {
      const std::string to = ".w8y-" + std::to_string(++whole_.lifted_);
      return renameat(folder, name, top_, to.c_str()) == 0;
    };
    if (move()) return changed_ = true;
    if (errno == EACCES) {  // to be moved, it must be writable itself
      make_accessible(folder, name);
      if (move()) return changed_ = true;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) return changed_ = true;  // that name was taken
    return false;
  }

  bool note(const char* name) {
    const int error = errno;
    if (whole_.problem_.empty())
      whole_.problem_ = std::string(name) + " in it can't be removed: " +
                        (error == EXDEV ? "it is on another file system" : error_text(error));
    return true;
  }

  FolderRemoval& whole_;
  const int top_;
  const std::chrono::steady_clock::time_point until_;
  unsigned steps_ = 0;
  bool seen_ = false;
  bool changed_ = false;
};

FolderRemoval::FolderRemoval(std::string path) : path_(std::move(path)) {
  look();
}

/// False: its owner, or somebody for him, has mounted something on it, which may not even answer.
bool FolderRemoval::look() {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (statx(AT_FDCWD, path_.c_str(), flags, STATX_TYPE | STATX_INO, &status) != 0) return true;
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return false;
  if (inode_ != 0) return true;
  device_ = makedev(status.stx_dev_major, status.stx_dev_minor);
  inode_ = status.stx_ino;
  return true;
}

FolderRemoval::Result FolderRemoval::go_on(Duration limit) {
  problem_.clear();
  const auto until = std::chrono::steady_clock::now() + limit;
  if (!look()) {
    problem_ = "another file system is mounted on it";
    return Result::stays;
  }
  Fd top(open(path_.c_str(), as_folder));
  if (!top && errno == EACCES) {
    make_accessible(AT_FDCWD, path_.c_str());
    top = Fd(open(path_.c_str(), as_folder));
  }
  struct stat status {};
  if (!top) {
    if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR) return Result::gone;
    problem_ = error_text(errno);
    return Result::stays;
  }
  if (fstat(top.get(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_)
    return Result::gone;
  fchmod(top.get(), 0700);
  const int again = openat(top.get(), ".", as_folder);
  const OpenFolder entries(again < 0 ? nullptr : fdopendir(again), closedir);
  if (!entries) {
    problem_ = error_text(errno);
    return Result::stays;
  }
  for (;;) {
    const auto left = until - std::chrono::steady_clock::now();
    Turn turn(*this, top.get(), std::chrono::duration_cast<Duration>(left));
    rewinddir(entries.get());
    if (!turn.look(entries.get())) return Result::more;
    if (!turn.seen()) break;
    if (!turn.changed()) return Result::stays;
    if (std::chrono::steady_clock::now() >= until) return Result::more;
  }
  if (rmdir(path_.c_str()) == 0 || errno == ENOENT) return Result::gone;
  problem_ = error_text(errno);
  return Result::stays;
}

}  // namespace w8y::process
