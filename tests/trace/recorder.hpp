#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace w8y::trace {

/// Records function calls from its construction until write(), or until it is destroyed. At most
/// one recorder may exist at a time, in a program with one thread.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void mark(const char* text);
  /// Ends the recording and writes it to a file. Must be called at most once. Each step is a line:
  /// "+ FUNCTION CALL" (entered), "- FUNCTION" (left) or "= MARK". FUNCTION and CALL are addresses
  /// in the program's file, for addr2line(1).
  void write(const std::string& path);
};

}  // namespace w8y::trace
