#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace w8y::trace {

/// Records while it exists. At most one at a time, for one thread.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void mark(const char* text);
  /// Ends the recording, and writes a line per step: "+ FUNCTION CALL" (entered),
  /// "- FUNCTION" (left) or "= MARK". The addresses are those of the program's file, for
  /// addr2line(1).
  void write(const std::string& path);
};

}  // namespace w8y::trace
