// Exit statuses and errors of `w8yctl` (w8yctl(1), EXIT STATUS).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/escape.hpp"

namespace w8y {
class ConfigError;
}

namespace w8y::ctl {

enum Exit : int { done = 0, refused = 1, wrong_usage = 2, not_reachable = 3 };

/// Exception that ends the program. Each of its lines is printed to standard error.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, const std::string& line, std::vector<std::string> more = {})
      : std::runtime_error(line), exit_(exit), more_(std::move(more)) {}

  [[nodiscard]] Exit exit() const { return exit_; }
  /// Returns the lines that follow the first one.
  [[nodiscard]] const std::vector<std::string>& more() const { return more_; }

 private:
  Exit exit_;
  std::vector<std::string> more_;
};

/// Returns a failure with an error of Redis, or with the reason why it does not reply.
inline Failure redis_failure(bool replies, const std::string& why,
                             std::vector<std::string> more = {}) {
  if (replies) return {refused, escape(why), std::move(more)};
  return {not_reachable, "cannot reach Redis: " + escape(why), std::move(more)};
}

/// Returns a failure whose lines are the errors of a config.
Failure wrong_config(const ConfigError& error);

/// Prints a line to standard error, after the name of the program.
void complain(const std::string& line);

}  // namespace w8y::ctl
