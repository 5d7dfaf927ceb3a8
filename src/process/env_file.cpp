#include "process/env_file.hpp"

#include <string.h>

#include <algorithm>
#include <cerrno>

#include "core/trusted_path.hpp"

namespace w8y::process {

namespace {

constexpr std::size_t largest = std::size_t{1} << 20;

std::optional<SpawnError> add_lines(const std::string& text, SpawnRequest& request) {
  const std::string what = "env_file " + request.env_file;
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
      return SpawnError{EINVAL, what + ", line " + std::to_string(number) + ": not NAME=value",
                        false, SpawnError::About::settings};
    set_variable(request.env, line);
  }
  return std::nullopt;
}

}  // namespace

void set_variable(std::vector<std::string>& variables, std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  const auto known =
      std::find_if(variables.begin(), variables.end(),
                   [name](const std::string& other) { return other.starts_with(name); });
  if (known != variables.end()) {
    *known = variable;
  } else {
    variables.emplace_back(variable);
  }
}

std::optional<SpawnError> add_env_file(SpawnRequest& request) {
  const auto failed = [&request](int error, const std::string& problem) {
    return SpawnError{error, "env_file " + request.env_file + " " + problem, false,
                      SpawnError::About::settings};
  };
  const TrustedFile file = open_own(request.env_file);
  if (!file.fd) return failed(file.error, file.problem);
  std::string text;
  std::string problem;
  if (!read_all(file, largest, text, problem)) return failed(EIO, problem);
  auto error = add_lines(text, request);
  explicit_bzero(text.data(), text.size());
  if (error) return error;
  for (const std::string& variable : request.env_over) set_variable(request.env, variable);
  request.env_over.clear();
  request.env_file.clear();
  return std::nullopt;
}

}  // namespace w8y::process
