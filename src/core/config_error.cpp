#include <algorithm>
#include <utility>

#include "core/config.hpp"

namespace w8y {

namespace {

std::string all_lines(const std::vector<ConfigDiagnostic>& errors) {
  std::string text;
  for (const ConfigDiagnostic& error : errors) {
    if (!text.empty()) text += '\n';
    text += error.to_string();
  }
  return text;
}

}  // namespace

std::string ConfigDiagnostic::to_string() const {
  std::string out = file;
  if (line > 0) out += ':' + std::to_string(line) + ':' + std::to_string(column);
  out += ": ";
  if (!key.empty()) out += key + ": ";
  return out + text;
}

ConfigError::ConfigError(std::vector<ConfigDiagnostic> errors)
    : std::runtime_error(all_lines(errors)), errors_(std::move(errors)) {}

std::string ConfigHost::url_problem(const std::string&) {
  return {};
}

std::string default_status(ConfigHost& host) {
  std::string directory = "/run";
  if (!host.is_root()) {
    std::string given = host.variable("RUNTIME_DIRECTORY");
    given.resize(std::min(given.find(':'), given.size()));
    if (given.empty()) given = host.variable("XDG_RUNTIME_DIR");
    while (given.size() > 1 && given.ends_with('/')) given.pop_back();
    if (given.starts_with('/')) directory = given;
  }
  if (!directory.ends_with("/w8y")) directory += "/w8y";
  return "unix:" + directory + "/w8yd.sock";
}

}  // namespace w8y
