// Runs a program to its end for its output, while the caller waits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/clock.hpp"

namespace w8y::process {

struct CaptureRequest {
  std::vector<std::string> argv;             ///< the program first: an absolute path
  std::vector<std::string> env;              ///< "NAME=value"
  Duration timeout{0};                       ///< after that, its whole group is killed
  std::size_t most = std::size_t{16} << 20;  ///< bytes of its output
};

struct CaptureResult {
  std::string output;
  /// Why the run failed; empty: success. Includes the end of standard error, if there is any:
  /// "exits with status 3: no database".
  std::string problem;
};

/// Runs a program. Callable on any thread; blocks for about the timeout at most. Standard input is
/// empty. Processes that the program has started in its group are killed when it ends. A pending
/// SIGTERM or SIGINT kills the whole group.
CaptureResult run_and_capture(const CaptureRequest& request);

/// Returns whether a thread is in run_and_capture(). An unknown child of this process may then be
/// its child.
bool runs_briefly();

}  // namespace w8y::process
