// The command line of `w8y` (w8y(1), OPTIONS).
#pragma once

#include <string>
#include <vector>

#include "core/clock.hpp"

namespace w8y::app {

struct W8yOptions {
  std::string redis_url;
  std::string key_prefix;  ///< without its final ':'
  Duration key_expiry{0};
  std::string env_var;
  bool continuous = false;
  std::vector<int> exit_codes;  ///< with `continuous`: go on after these
  bool quiet = false;
  std::string log_file;
  bool timestamps = true;
  std::string lock_key;
  std::vector<std::string> command;  ///< never empty
};

/// Parses, or prints what was asked for or what is wrong and returns the exit status in `exit`.
bool parse_w8y_options(int argc, char** argv, W8yOptions& options, int& exit);

}  // namespace w8y::app
