// The command line of `w8yctl`.
#pragma once

#include "ctl/command.hpp"

namespace w8y::ctl {

/// Parses the command line. For --help and --version, prints the text, sets `exit` and returns
/// nullptr. Throws Failure.
CommandPtr parse_command_line(int argc, char** argv, Options& options, int& exit);

}  // namespace w8y::ctl
