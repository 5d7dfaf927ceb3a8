#include "redis/options.hpp"

#include <string_view>

#include "core/trusted_path.hpp"

namespace w8y::redis {

namespace {

constexpr std::size_t max_password = 4096;

}  // namespace

std::string read_password(const ClientOptions& options, Secret& password) {
  password = options.url.password;
  const std::string& path = options.password_file;
  if (path.empty()) return {};
  const Wiping wiping;
  const std::string place = "password file " + path + ": ";
  std::string text;
  std::string problem;
  if (!read_own(path, max_password, text, problem))
    return place +
           (text.size() > max_password ? "too long; a password has at most 4096 bytes" : problem);
  std::string_view line(text);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return place + "empty";
  password = Secret(line);
  return {};
}

}  // namespace w8y::redis
