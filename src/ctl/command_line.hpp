// The command line of `w8yctl`.
#pragma once

#include "ctl/command.hpp"

namespace w8y::ctl {

/// Parses; or prints what was asked for (--help, --version), and returns nullptr with the
/// exit status. Throws Failure.
CommandPtr parse_command_line(int argc, char** argv, Options& options, int& exit);

}  // namespace w8y::ctl
