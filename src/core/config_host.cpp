// The real host of a configuration: files, accounts, names.
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include <w8y/config.hpp>

namespace w8y {

namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr const char* too_large = "is larger than 16 MiB; no configuration is";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string problem_of(int error) {
  if (error == ENOENT) return "not found";
  if (error == EISDIR) return "is a directory; must be a file";
  return "can't be read: " + std::generic_category().message(error);
}

/// Up to one byte over the limit, so that an endless file ends too.
ConfigHost::File read_all(int fd, std::size_t expected) {
  ConfigHost::File file;
  file.text.reserve(expected + 1);
  std::string part(std::size_t{64} << 10, '\0');
  while (file.text.size() <= largest_file) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {"", problem_of(errno)};
    if (count == 0) return file;
    file.text.append(part, 0, static_cast<std::size_t>(count));
  }
  return {"", too_large};
}

/// Why others than root can write what `status` is of; empty: they can't.
std::string writable_by_others(const struct stat& status) {
  if (status.st_uid != 0) return "belongs to user " + std::to_string(status.st_uid);
  // With an ACL, the group's bits are its mask: the most that anyone named in it can do.
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by its group or others";
  return {};
}

/// The folders above `path`: who can write one of them can put another file in its place. A sticky
/// folder such as /tmp is fine, as what is root's in it can't be moved by others.
std::string distrust_folders(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1) {
    folder.resize(std::max<std::size_t>(folder.rfind('/'), 1));
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return problem_of(errno);
    if ((status.st_mode & S_ISVTX) != 0 && status.st_uid == 0) continue;
    if (const std::string why = writable_by_others(status); !why.empty()) {
      return std::string("is in ").append(folder).append(", which ").append(why) +
             "; w8yd runs as root, so only root may be able to write there";
    }
  }
  return {};
}

std::string distrust_file(const std::string& path, const struct stat& status) {
  if (const std::string why = writable_by_others(status); !why.empty()) {
    return why +
           "; w8yd runs as root, so it must belong to root, and nobody else may write it "
           "(chown root, chmod go-w)";
  }
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return problem_of(errno);
  if (std::string why = distrust_folders(real.get()); !why.empty()) return why;
  // The way to it too, where that goes by a symbolic link.
  return path.starts_with('/') ? distrust_folders(path) : std::string();
}

std::optional<unsigned> number_of(const std::string& text) {
  unsigned number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  // The last number means "no change" to the kernel.
  if (error != std::errc{} || at != end || number == UINT_MAX) return std::nullopt;
  return number;
}

/// Calls one of getpwnam_r and its like, with as much memory as it asks for.
template <class Entry, class Ask>
bool account_exists(const Ask& ask) {
  std::vector<char> buffer(1024);
  Entry entry{};
  Entry* result = nullptr;
  while (ask(&entry, buffer.data(), buffer.size(), &result) == ERANGE &&
         buffer.size() < (std::size_t{1} << 24)) {
    buffer.resize(buffer.size() * 2);
  }
  return result != nullptr;
}

}  // namespace

ConfigHost::File SystemConfigHost::read(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, 0);
  if (path.find('\0') != std::string::npos) return {"", "has a NUL byte in its name"};
  // Opening a FIFO must not wait for a writer.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return {"", problem_of(errno)};
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return {"", problem_of(errno)};
  if (S_ISDIR(status.st_mode)) return {"", problem_of(EISDIR)};
  if (!S_ISREG(status.st_mode)) return {"", "is not a regular file; must be one"};
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size > largest_file) return {"", too_large};
  if (is_root()) {
    if (std::string why = distrust_file(path, status); !why.empty()) return {"", std::move(why)};
  }
  return read_all(fd.get(), static_cast<std::size_t>(size));
}

std::vector<std::string> SystemConfigHost::glob(const std::string& pattern) {
  if (pattern.find('\0') != std::string::npos) return {};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  // By bytes, so that the order is the same in every locale.
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string SystemConfigHost::hostname() {
  char name[HOST_NAME_MAX + 1] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::string SystemConfigHost::variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

bool SystemConfigHost::is_root() {
  return ::geteuid() == 0;
}

std::string SystemConfigHost::distrust(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return problem_of(errno);
  return distrust_file(path, status);
}

bool SystemConfigHost::user_exists(const std::string& user) {
  const bool by_name =
      account_exists<passwd>([&](auto... rest) { return ::getpwnam_r(user.c_str(), rest...); });
  if (by_name) return true;
  const auto number = number_of(user);
  return number &&
         account_exists<passwd>([&](auto... rest) { return ::getpwuid_r(*number, rest...); });
}

bool SystemConfigHost::group_exists(const std::string& group) {
  const bool by_name =
      account_exists<::group>([&](auto... rest) { return ::getgrnam_r(group.c_str(), rest...); });
  if (by_name) return true;
  const auto number = number_of(group);
  return number &&
         account_exists<::group>([&](auto... rest) { return ::getgrgid_r(*number, rest...); });
}

ConfigHost& system_config_host() {
  static SystemConfigHost host;
  return host;
}

}  // namespace w8y
