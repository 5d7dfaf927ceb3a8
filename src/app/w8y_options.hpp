// Command line of `w8y` (w8y(1), OPTIONS).
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
  std::vector<int> exit_codes;  ///< with `continuous`: exit codes after which w8y continues
  bool quiet = false;
  std::string log_file;
  bool timestamps = true;
  std::string lock_key;
  std::vector<std::string> command;  ///< never empty
};

/// Parses the command line. Returns false with an exit status in `exit` after printing an error,
/// the help or the version.
bool parse_w8y_options(int argc, char** argv, W8yOptions& options, int& exit);

}  // namespace w8y::app
