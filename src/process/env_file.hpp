// `env_file`: NAME=value lines, read again for each run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/spawn.hpp"

namespace w8y::process {

/// Sets "NAME=value"; it replaces an earlier value of that name.
void set_variable(std::vector<std::string>& variables, std::string_view variable);

/// Adds the variables of `env_file` and then `env_over` to `env`. A line is NAME=value, without
/// quoting; empty lines and lines that start with '#' are skipped. Returns the error of the file.
/// For root, a file that another user could have written is an error too. Blocks while the file
/// system does not respond.
std::optional<SpawnError> add_env_file(SpawnRequest& request);

}  // namespace w8y::process
