#include "core/trusted_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace w8y {

namespace {

constexpr int max_links = 40;  // limit of the kernel

std::string problem_of(int error) {
  if (error == ENOENT) return "not found";
  if (error == EISDIR) return "is a directory; must be a file";
  return "cannot be read: " + std::generic_category().message(error);
}

TrustedFile failed(int error, std::string problem) {
  TrustedFile none;
  none.error = error;
  none.problem = std::move(problem);
  return none;
}

TrustedFile failed(int error) {
  return failed(error, problem_of(error));
}

TrustedFile opened(int fd) {
  TrustedFile file;
  file.fd = Fd(fd);
  return file;
}

/// Returns why users other than root and `also` can write the file of this `status`; empty if they
/// cannot.
std::string writable_by_others(const struct stat& status, uid_t also) {
  if (status.st_uid != 0 && status.st_uid != also)
    return "belongs to user " + std::to_string(status.st_uid);
  // With an ACL, the group bits are its mask: the maximum permission of any entry.
  if (!S_ISLNK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "can be written by its group or others";
  return {};
}

constexpr const char* must_be_roots =
    "; w8yd runs as root, so the file must belong to root, and only root may write to it (chown "
    "root, chmod go-w)";

/// Walker along a path to a file. `place_` is the current directory: it is open, and its path is
/// trusted.
class Walker {
 public:
  Walker(const PathWalk& walk, const std::string& path) : walk_(walk) { add(path); }

  /// Returns the file or directory at the end of the path, as O_PATH.
  TrustedFile go();
  [[nodiscard]] const struct stat& status() const { return status_; }
  /// Opens the file that go() has found, for reading.
  TrustedFile open_found() const;

 private:
  void add(const std::string& path);
  TrustedFile step(const std::string& name);
  TrustedFile follow(int link, const std::string& path);
  std::string enter(TrustedFile&& place, std::string path);
  [[nodiscard]] std::string in_directory(const std::string& why) const;
  [[nodiscard]] std::string who() const { return walk_.also == 0 ? "only root" : "only its owner"; }

  const PathWalk& walk_;
  std::vector<std::string> rest_;  ///< remaining names, the next one last
  TrustedFile place_;
  std::string at_;
  std::string last_;  ///< name of the file in `place_`
  struct stat status_ {};
  int links_ = 0;
};

void Walker::add(const std::string& path) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at && path.compare(at, end - at, ".") != 0)
      names.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  rest_.insert(rest_.end(), names.rbegin(), names.rend());
}

std::string Walker::in_directory(const std::string& why) const {
  return "is in " + at_ + ", which " + why + "; w8yd runs as root, so " + who() +
         " may be able to write there";
}

/// Makes a directory the current directory for the next name.
std::string Walker::enter(TrustedFile&& place, std::string path) {
  place_ = std::move(place);
  at_ = std::move(path);
  if (fstat(place_.fd.get(), &status_) != 0) return problem_of(errno);
  if (!S_ISDIR(status_.st_mode)) return problem_of(ENOTDIR);
  if (walk_.check)
    if (std::string why = walk_.check(place_.fd.get(), status_); !why.empty()) return why;
  struct stat as_if = status_;
  if ((status_.st_mode & S_ISVTX) != 0) as_if.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  const std::string why = writable_by_others(as_if, walk_.also);
  return why.empty() ? why : in_directory(why);
}

TrustedFile Walker::follow(int link, const std::string& path) {
  if (++links_ > max_links) return failed(ELOOP);
  if (const std::string why = writable_by_others(status_, walk_.also); !why.empty())
    return failed(EACCES, "is reached by the link " + path + ", which " + why +
                              "; w8yd runs as root, so " + who() + " may be able to change it");
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlinkat(link, "", target.data(), target.size());
  if (size < 0) return failed(errno);
  if (static_cast<std::size_t>(size) >= target.size()) return failed(ENAMETOOLONG);
  const std::string to(target.data(), static_cast<std::size_t>(size));
  if (to.empty()) return failed(ENOENT);
  add(to);
  if (to.front() != '/') return {};
  if (std::string why = enter(opened(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), "/");
      !why.empty())
    return failed(EACCES, std::move(why));
  return {};
}

/// Follows one name of the path. Returns a file without a problem and without a descriptor if the
/// walk continues.
TrustedFile Walker::step(const std::string& name) {
  constexpr int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  TrustedFile next = opened(openat(place_.fd.get(), name.c_str(), flags));
  if (!next.fd) return failed(errno);
  std::string path = (at_ == "/" ? at_ : at_ + '/') + name;
  if (name == "..") path = at_.substr(0, std::max<std::size_t>(at_.rfind('/'), 1));
  if (fstat(next.fd.get(), &status_) != 0) return failed(errno);
  if (S_ISLNK(status_.st_mode)) return follow(next.fd.get(), path);
  if (rest_.empty() && !S_ISDIR(status_.st_mode)) return next;
  std::string why = enter(std::move(next), std::move(path));
  if (why.empty()) return {};
  return failed(S_ISDIR(status_.st_mode) ? EACCES : ENOTDIR, std::move(why));
}

TrustedFile Walker::go() {
  std::string why = enter(opened(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), "/");
  if (!why.empty()) return failed(EACCES, std::move(why));
  while (!rest_.empty()) {
    last_ = std::move(rest_.back());
    rest_.pop_back();
    TrustedFile file = step(last_);
    if (!file.problem.empty()) return file;
    if (!file.fd) continue;
    if (walk_.check)
      if (why = walk_.check(file.fd.get(), status_); !why.empty())
        return failed(EACCES, std::move(why));
    if (!S_ISREG(status_.st_mode)) return file;  // the caller decides
    if (why = writable_by_others(status_, walk_.also); why.empty()) return file;
    return failed(EACCES, why + must_be_roots);
  }
  return std::move(place_);
}

TrustedFile Walker::open_found() const {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  TrustedFile file = opened(openat(place_.fd.get(), last_.c_str(), flags));
  if (!file.fd) return failed(errno);
  struct stat status {};
  if (fstat(file.fd.get(), &status) != 0) return failed(errno);
  if (status.st_dev != status_.st_dev || status.st_ino != status_.st_ino)
    return failed(EAGAIN, "was replaced while it was opened; try again");
  return file;
}

TrustedFile not_opened(int error) {
  return failed(error, "cannot be opened: " + std::generic_category().message(error));
}

/// Opens `name` in an open directory, or in the working directory (AT_FDCWD).
TrustedFile open_for_writing(int directory, const char* name, WriteAs how, bool links,
                             mode_t mode) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                    (how == WriteAs::append ? O_APPEND : 0) | (links ? 0 : O_NOFOLLOW);
  TrustedFile file = opened(openat(directory, name, flags, mode));
  if (file.fd) return file;
  if (errno == ELOOP && !links) return failed(ELOOP, "is a symbolic link; must be the file itself");
  if (errno == ENXIO) return failed(ENXIO, "is a FIFO that no process reads, or a socket");
  return not_opened(errno);
}

/// Returns why root must not write to an open file, which may be in a sticky directory.
std::string distrust_of_target(struct stat status) {
  // Writing to a device changes no file.
  if (S_ISCHR(status.st_mode)) return {};
  if (S_ISREG(status.st_mode) && status.st_nlink > 1)
    return "has another name (a hard link); w8yd runs as root, so the file must have only one name";
  const std::string why = writable_by_others(status, 0);
  return why.empty() ? why : why + must_be_roots;
}

std::optional<std::string> from_root(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::unique_ptr<char, decltype(&std::free)> here(getcwd(nullptr, 0), &std::free);
  if (!here || *here != '/') return std::nullopt;
  return std::string(here.get()) + '/' + path;
}

}  // namespace

TrustedFile open_trusted(const std::string& path, const PathWalk& walk) {
  if (path.find('\0') != std::string::npos) return failed(ENOENT, "has a NUL byte in its name");
  const auto absolute = from_root(path);
  if (!absolute) return failed(errno);
  Walker walker(walk, *absolute);
  TrustedFile found = walker.go();
  if (!found.problem.empty()) return found;
  if (S_ISDIR(walker.status().st_mode)) return failed(EISDIR);
  if (!S_ISREG(walker.status().st_mode))
    return failed(EINVAL, "is not a regular file; must be one");
  return walker.open_found();
}

TrustedFile open_trusted_directory(const std::string& path, const PathWalk& walk) {
  if (path.find('\0') != std::string::npos) return failed(ENOENT, "has a NUL byte in its name");
  const auto absolute = from_root(path);
  if (!absolute) return failed(errno);
  Walker walker(walk, *absolute);
  TrustedFile found = walker.go();
  if (found.problem.empty() && !S_ISDIR(walker.status().st_mode)) return failed(ENOTDIR);
  return found;
}

TrustedFile open_own_for_writing(const std::string& path, WriteAs how, mode_t mode) {
  if (path.find('\0') != std::string::npos) return failed(ENOENT, "has a NUL byte in its name");
  const bool root = geteuid() == 0;
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return failed(EISDIR);
  TrustedFile directory;
  if (root) {
    directory =
        open_trusted_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
    if (directory.error != 0 && directory.error != EACCES) return not_opened(directory.error);
    if (!directory.problem.empty()) return directory;
  }
  TrustedFile file =
      open_for_writing(root ? directory.fd.get() : AT_FDCWD, root ? name.c_str() : path.c_str(),
                       how, how == WriteAs::append && !root, mode);
  if (!file.fd) return file;
  struct stat status {};
  if (fstat(file.fd.get(), &status) != 0) return failed(errno);
  const bool regular = S_ISREG(status.st_mode);
  if (std::string why = root ? distrust_of_target(status) : std::string(); !why.empty())
    return failed(EACCES, std::move(why));
  if (how == WriteAs::append) return file;
  if (!regular) return failed(EINVAL, "is not a regular file; must be one");
  if (ftruncate(file.fd.get(), 0) != 0) return failed(errno);
  return file;
}

std::string distrust_of_directory(const std::string& path) {
  if (geteuid() != 0) return {};
  const TrustedFile way = open_trusted_directory(path);
  return way.error == EACCES ? way.problem : std::string();
}

TrustedFile open_any(const std::string& path) {
  if (path.find('\0') != std::string::npos) return failed(ENOENT, "has a NUL byte in its name");
  TrustedFile file = opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.fd) return failed(errno);
  struct stat status {};
  if (fstat(file.fd.get(), &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);
  if (!S_ISREG(status.st_mode)) return failed(EINVAL, "is not a regular file; must be one");
  return file;
}

TrustedFile open_own(const std::string& path) {
  return geteuid() == 0 ? open_trusted(path) : open_any(path);
}

bool read_all(const TrustedFile& file, std::size_t most, std::string& text, std::string& problem) {
  text.clear();
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t count = ::read(file.fd.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) return true;
    if (count < 0) {
      problem = problem_of(errno);
      return false;
    }
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > most) {
      problem = "is larger than " + std::to_string(most) + " bytes";
      return false;
    }
  }
}

bool read_own(const std::string& path, std::size_t most, std::string& text, std::string& problem) {
  const TrustedFile file = open_own(path);
  problem = file.problem;
  return problem.empty() && read_all(file, most, text, problem);
}

}  // namespace w8y
