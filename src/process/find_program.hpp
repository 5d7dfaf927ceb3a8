// Finds a program as a shell would.
#pragma once

#include <string>

namespace w8y::process {

struct ProgramSearch {
  std::string path;     ///< empty: not found
  std::string problem;  ///< if not found: "not found" or "not executable"
};

/// Finds a program. A name with a slash is used unchanged; any other is searched for in PATH of
/// this process. Relative and empty directories of PATH are skipped, so that no program in the
/// working directory is run.
ProgramSearch find_program(const std::string& program);

}  // namespace w8y::process
