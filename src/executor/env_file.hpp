// `env_file`: NAME=value lines, read anew for each run.
#pragma once

#include <optional>
#include <string>

#include "process/spawn.hpp"

namespace w8y::executor {

class Environment;

/// Sets what stands in the file: a line is NAME=value, the value as it stands, without quoting;
/// empty lines and those that begin with '#' are passed over. Returns what is wrong with the file;
/// as root, that others than root could have written it is wrong, too.
std::optional<process::SpawnError> read_env_file(const std::string& path, Environment& environment);

}  // namespace w8y::executor
