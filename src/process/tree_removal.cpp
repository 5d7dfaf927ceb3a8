#include "process/tree_removal.hpp"

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
#include <utility>

#include "core/fd.hpp"
#include "process/error_text.hpp"

namespace w8y::process {

namespace {

using OpenFolder = std::unique_ptr<DIR, int (*)(DIR*)>;

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Returns whether the name is on this file system. A mounted file system may not respond, so it is
/// not queried.
bool is_on(int directory, const char* name, dev_t device) {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (statx(directory, name, flags, STATX_TYPE, &status) != 0)
    return true;  // the next system call fails with the reason
  return makedev(status.stx_dev_major, status.stx_dev_minor) == device;
}

bool is_dots(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

}  // namespace

/// Gives the owner the permissions that a directory lacks: its owner may have removed them.
void TreeRemoval::make_accessible(int directory, const char* name) const {
  const Fd fd(openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (fd && fstat(fd.get(), &status) == 0 && is_owners(status.st_uid))
    chmod(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), 0700);
}

/// One step of the removal. `top_` is the directory that is removed.
class TreeRemoval::Turn {
 public:
  Turn(TreeRemoval& whole, int top, Duration limit)
      : whole_(whole), top_(top), until_(std::chrono::steady_clock::now() + limit) {}

  /// Handles each entry of the top directory once. Returns false if the time is over.
  bool open_next(DIR* top) {
    for (const dirent* entry = nullptr; (entry = readdir(top)) != nullptr;) {
      if (is_dots(entry->d_name)) continue;
      seen_ = true;
      if (!remove(entry->d_name) || is_over_budget()) return false;
    }
    return true;
  }
  [[nodiscard]] bool seen() const { return seen_; }
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  [[nodiscard]] bool is_over_budget() {
    // The clock is read rarely, since most entries take 1 µs.
    return ++steps_ % 64 == 0 && std::chrono::steady_clock::now() >= until_;
  }

  /// Removes a file or an empty directory.
  bool drop(int directory, const char* name) {
    if (unlinkat(directory, name, 0) == 0) return changed_ = true;
    if (errno == ENOENT) return true;
    if (errno != EISDIR && errno != EPERM) return false;
    if (unlinkat(directory, name, AT_REMOVEDIR) == 0) return changed_ = true;
    return errno == ENOENT;
  }

  /// Removes an entry of the top directory. Returns false if the time is over.
  bool remove(const char* name) {
    if (drop(top_, name)) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) return record(top_, name);
    if (!is_on(top_, name, whole_.device_)) {
      errno = EXDEV;
      return record(top_, name);
    }
    Fd fd(openat(top_, name, as_directory));
    if (!fd && errno == EACCES) {
      whole_.make_accessible(top_, name);
      fd = Fd(openat(top_, name, as_directory));
    }
    if (!fd || !may_empty(fd.get())) return record(top_, name);
    const OpenFolder directory(fdopendir(fd.get()), closedir);
    if (!directory) return record(top_, name);
    static_cast<void>(fd.release());
    if (!empty(directory.get(), name)) return false;
    if (!drop(top_, name) && errno != ENOTEMPTY && errno != EEXIST) record(top_, name);
    return true;
  }

  /// Returns whether an open directory may be emptied; otherwise errno is the reason.
  [[nodiscard]] bool may_empty(int fd) const {
    struct stat status {};
    if (fstat(fd, &status) != 0) return false;
    errno = whole_.is_owners(status.st_uid) ? EXDEV : EPERM;
    return errno == EXDEV && status.st_dev == whole_.device_;
  }

  bool empty(DIR* directory, const char* name) {
    const int fd = dirfd(directory);
    bool opened = false;
    for (const dirent* entry = nullptr; (entry = readdir(directory)) != nullptr;) {
      if (is_dots(entry->d_name)) continue;
      if (!drop(fd, entry->d_name) && !lift(fd, entry->d_name)) {
        if ((errno == EACCES || errno == EPERM) && !std::exchange(opened, true)) {
          whole_.make_accessible(top_, name);
          if (drop(fd, entry->d_name) || lift(fd, entry->d_name)) continue;
        }
        record(fd, entry->d_name);
      }
      if (is_over_budget()) return false;
    }
    return true;
  }

  /// Moves a directory that is not empty to the top, where it is handled later.
  bool lift(int directory, const char* name) {
    const int why = errno;
    if (why != ENOTEMPTY && why != EEXIST) return false;
    struct stat status {};
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
    if (!whole_.is_owners(status.st_uid)) {
      errno = EPERM;
      return false;
    }
    const auto move = [&] {
      const std::string to = ".w8y-" + std::to_string(++whole_.lifted_);
      return renameat(directory, name, top_, to.c_str()) == 0;
    };
    if (move()) return changed_ = true;
    if (errno == EACCES) {  // a directory must be writable to be moved
      whole_.make_accessible(directory, name);
      if (move()) return changed_ = true;
    }
    if (errno == EEXIST || errno == ENOTEMPTY) return changed_ = true;  // that name was used
    return false;
  }

  bool record(int directory, const char* name) {
    const int error = errno;
    if (whole_.problem_.empty())
      whole_.problem_ = "its entry " + std::string(name) +
                        " cannot be removed: " + reason(directory, name, error);
    return true;
  }

  [[nodiscard]] std::string reason(int directory, const char* name, int error) const {
    if (error == EXDEV) return "it is on another file system";
    struct stat status {};
    if (error == EPERM && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !whole_.is_owners(status.st_uid))
      return "it belongs to user " + std::to_string(status.st_uid) + ", not to the user of the run";
    return error_text(error);
  }

  TreeRemoval& whole_;
  const int top_;
  const std::chrono::steady_clock::time_point until_;
  unsigned steps_ = 0;
  bool seen_ = false;
  bool changed_ = false;
};

TreeRemoval::TreeRemoval(std::string path, std::optional<uid_t> owner)
    : path_(std::move(path)), owner_(owner) {
  open_next();
}

/// Returns false if the owner may have mounted a file system on it, which may not respond.
bool TreeRemoval::open_next() {
  struct statx status {};
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
  if (statx(AT_FDCWD, path_.c_str(), flags, STATX_TYPE | STATX_INO, &status) != 0) return true;
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return false;
  if (inode_ != 0) return true;
  device_ = makedev(status.stx_dev_major, status.stx_dev_minor);
  inode_ = status.stx_ino;
  return true;
}

TreeRemoval::Result TreeRemoval::next_step(Duration limit) {
  problem_.clear();
  const auto until = std::chrono::steady_clock::now() + limit;
  if (!open_next()) {
    problem_ = "another file system is mounted on it";
    return Result::stays;
  }
  Fd top(open(path_.c_str(), as_directory));
  if (!top && errno == EACCES) {
    make_accessible(AT_FDCWD, path_.c_str());
    top = Fd(open(path_.c_str(), as_directory));
  }
  struct stat status {};
  if (!top) {
    if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR) return Result::gone;
    problem_ = error_text(errno);
    return Result::stays;
  }
  if (fstat(top.get(), &status) != 0 || status.st_dev != device_ || status.st_ino != inode_)
    return Result::gone;
  if (!is_owners(status.st_uid)) {
    problem_ =
        "it belongs to user " + std::to_string(status.st_uid) + ", not to the user of the run";
    return Result::stays;
  }
  fchmod(top.get(), 0700);
  const int again = openat(top.get(), ".", as_directory);
  const OpenFolder entries(again < 0 ? nullptr : fdopendir(again), closedir);
  if (!entries) {
    problem_ = error_text(errno);
    return Result::stays;
  }
  for (;;) {
    const auto left = until - std::chrono::steady_clock::now();
    Turn turn(*this, top.get(), std::chrono::duration_cast<Duration>(left));
    rewinddir(entries.get());
    if (!turn.open_next(entries.get())) return Result::more;
    if (!turn.seen()) break;
    if (!turn.changed()) return Result::stays;
    if (std::chrono::steady_clock::now() >= until) return Result::more;
  }
  if (rmdir(path_.c_str()) == 0 || errno == ENOENT) return Result::gone;
  problem_ = error_text(errno);
  return Result::stays;
}

}  // namespace w8y::process
