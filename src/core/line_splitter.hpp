// Splits bytes into lines, with bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/run_stats.hpp"

namespace w8y {

/// Splits a stream of bytes at '\n'. A line longer than `max_line` bytes is reported once,
/// truncated to `max_line`, with `cut` set. The rest of the line is dropped without buffering, so
/// that memory use stays at `max_line`. A trailing '\r' belongs to the line.
class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line, bool cut)>;

  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  void feed(std::string_view bytes, const Sink& sink);
  /// Ends the stream: a last line without newline counts as a line.
  void finish(const Sink& sink);
  /// Returns the counts of lines since the last call.
  LineCounts::Of drain_counts() { return std::exchange(counts_, {}); }

 private:
  void read(std::string_view piece, bool ends, const Sink& sink);

  std::size_t max_line_;
  std::string partial_;
  bool dropping_ = false;
  LineCounts::Of counts_;
};

}  // namespace w8y
