// The real host for a config: files and names.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/config.hpp"
#include "core/status_token.hpp"
#include "core/trusted_path.hpp"

namespace w8y {

namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr const char* too_large = "is larger than 16 MiB, the limit for a config file";

std::string problem_of(int error) {
  if (error == ENOENT) return "not found";
  if (error == EISDIR) return "is a directory; must be a file";
  return "cannot be read: " + std::generic_category().message(error);
}

/// Reads up to one byte over the limit, so that an endless file ends as well.
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

}  // namespace

ConfigHost::File SystemConfigHost::read(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, 0);
  if (path.find('\0') != std::string::npos) return {"", "has a NUL byte in its name"};
  const TrustedFile file = is_root() ? open_trusted(path) : open_any(path);
  if (!file.problem.empty()) return {"", file.problem};
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return {"", problem_of(errno)};
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size > largest_file) return {"", too_large};
  return read_all(file.fd.get(), static_cast<std::size_t>(size));
}

std::vector<std::string> SystemConfigHost::glob(const std::string& pattern) {
  if (pattern.find('\0') != std::string::npos) return {};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  // In byte order, so that the order is the same in every locale.
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

std::string SystemConfigHost::missing(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::string() : problem_of(errno);
}

std::string SystemConfigHost::distrust(const std::string& path) {
  const TrustedFile file = open_trusted(path);
  // A file that is missing or not accessible is as safe as its path, which was checked.
  return file.error == EACCES ? file.problem : std::string();
}

std::string SystemConfigHost::exposed(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode) & 07777U);
  return mode.data();
}

std::string SystemConfigHost::token_problem(const std::string& path) {
  const StatusToken token = read_status_token(path);
  return token.denied ? std::string() : token.problem;
}

ConfigHost& system_config_host() {
  static SystemConfigHost host;
  return host;
}

}  // namespace w8y
