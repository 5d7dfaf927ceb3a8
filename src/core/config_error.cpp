#include <algorithm>
#include <utility>

#include "core/config.hpp"

namespace w8y {

namespace {

std::string all_lines(const std::vector<ConfigMistake>& mistakes) {
  std::string text;
  for (const ConfigMistake& mistake : mistakes) {
    if (!text.empty()) text += '\n';
    text += mistake.to_string();
  }
  return text;
}

}  // namespace

std::string ConfigMistake::to_string() const {
  std::string out = file;
  if (line > 0) out += ':' + std::to_string(line) + ':' + std::to_string(column);
  out += ": ";
  if (!key.empty()) out += key + ": ";
  return out + text;
}

ConfigError::ConfigError(std::vector<ConfigMistake> mistakes)
    : std::runtime_error(all_lines(mistakes)), mistakes_(std::move(mistakes)) {}

std::string ConfigHost::url_problem(const std::string&) {
  return {};
}

std::string default_status(ConfigHost& host) {
  std::string folder = "/run";
  if (!host.is_root()) {
    std::string given = host.variable("RUNTIME_DIRECTORY");
    given.resize(std::min(given.find(':'), given.size()));
    if (given.empty()) given = host.variable("XDG_RUNTIME_DIR");
    while (given.size() > 1 && given.ends_with('/')) given.pop_back();
    if (given.starts_with('/')) folder = given;
  }
  if (!folder.ends_with("/w8y")) folder += "/w8y";
  return "unix:" + folder + "/w8yd.sock";
}

}  // namespace w8y
