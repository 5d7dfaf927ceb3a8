// Where a program is, as a shell would find it.
#pragma once

#include <string>

namespace w8y::process {

struct ProgramSearch {
  std::string path;     ///< empty: not found
  std::string problem;  ///< then: "not found" or "not executable"
};

/// A name with a slash is taken as it is, any other is looked for in our PATH. Folders of PATH that
/// are relative (or empty) are passed over: nothing is run from where we happen to stand.
ProgramSearch find_program(const std::string& program);

}  // namespace w8y::process
