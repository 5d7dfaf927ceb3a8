#include "executor/env_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "executor/environment.hpp"
#include "process/fd.hpp"

namespace w8y::executor {

namespace {

constexpr std::size_t largest = std::size_t{1} << 20;

std::optional<process::SpawnError> read_all(const std::string& path, std::string& text) {
  const auto failed = [](int error) {
    return process::SpawnError{error, std::generic_category().message(error)};
  };
  const auto wrong = [](const char* what) { return process::SpawnError{EINVAL, what}; };
  // A FIFO would hold up everything: not blocking, and only regular files.
  const process::Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return failed(errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return failed(errno);
  if (!S_ISREG(status.st_mode)) return wrong("not a regular file");
  if (geteuid() == 0 && (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0))
    return wrong("others than root can write it");
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno);
    if (count == 0) return std::nullopt;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > largest) return wrong("larger than 1 MiB");
  }
}

}  // namespace

std::optional<process::SpawnError> read_env_file(const std::string& path,
                                                 Environment& environment) {
  const std::string what = "env_file " + path;
  std::string text;
  if (const auto problem = read_all(path, text))
    return process::SpawnError{problem->error, what + ": " + problem->text};
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t newline = rest.find('\n');
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0 ||
        line.find('\0') != std::string_view::npos)
      return process::SpawnError{EINVAL,
                                 what + ", line " + std::to_string(number) + ": not NAME=value"};
    environment.set(line.substr(0, equals), line.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace w8y::executor
