#include "redis/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace w8y::redis {

namespace {

std::string read_password_file(const std::string& path, std::string& password) {
  if (path.empty()) return {};
  const std::string place = "password file " + path + ": ";
  // Not blocking, in case that it is a pipe without a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return place + std::strerror(errno);
  char text[4097];
  const ssize_t got = read(fd, text, sizeof text);
  const int error = errno;
  close(fd);
  if (got < 0) return place + std::strerror(error);
  if (got == sizeof text) return place + "longer than any password (4096 bytes)";
  std::string_view line(text, static_cast<std::size_t>(got));
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return place + "empty";
  password = line;
  return {};
}

}  // namespace

std::string read_password(const ClientOptions& options, std::string& password) {
  password = options.url.password;
  return read_password_file(options.password_file, password);
}

std::string read_sentinel_password(const ClientOptions& options, std::string& password) {
  password.clear();
  return read_password_file(options.sentinel_password_file, password);
}

}  // namespace w8y::redis
