// `env_file`: NAME=value lines, read anew for each run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/spawn.hpp"

namespace w8y::process {

/// "NAME=value" takes the place of an earlier value of that name.
void set_variable(std::vector<std::string>& variables, std::string_view variable);

/// Puts what stands in `env_file`, and then `env_over`, into `env`: a line is NAME=value, the value
/// as it stands, without quoting; empty lines and those that begin with '#' are passed over.
/// Returns what is wrong with the file; as root, that others than root could have written it is
/// wrong, too. May take as long as the file system does.
std::optional<SpawnError> add_env_file(SpawnRequest& request);

}  // namespace w8y::process
