// A program that is run to its end for what it prints, while the caller waits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/clock.hpp"

namespace w8y::process {

struct CaptureRequest {
  std::vector<std::string> argv;             ///< the program first: an absolute path
  std::vector<std::string> env;              ///< "NAME=value"
  Duration timeout{0};                       ///< then all of it is killed
  std::size_t most = std::size_t{16} << 20;  ///< bytes of its output
};

struct CaptureResult {
  std::string output;
  /// Why that is of no use; empty: it is. With the end of its standard error, if there is any:
  /// "exits with status 3: no database".
  std::string problem;
};

/// On any thread; blocks up to the timeout, and a little more. Its standard input is empty. What it
/// has started in its own group is killed when it ends. A pending SIGTERM or SIGINT kills all of
/// it.
CaptureResult run_and_capture(const CaptureRequest& request);

/// Whether somebody waits in run_and_capture(): then a child of this process that nobody knows may
/// be theirs.
bool runs_briefly();

}  // namespace w8y::process
