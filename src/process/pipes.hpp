// Our ends of a child's standard streams.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "loop/watch.hpp"
#include "process/fd.hpp"

namespace w8y::process {

/// /dev/null, opened once for all. Throws std::system_error.
int null_device();

/// Feeds a child. What fits into the pipe is written before the child is there; the rest as it is
/// taken. Nobody reading is no mistake.
class InputPipe {
 public:
  InputPipe(loop::Loop& loop, std::string bytes) : loop_(loop), bytes_(std::move(bytes)) {}

  /// The child's end. Throws std::system_error.
  Fd open();

 private:
  void write_on();
  void close();

  loop::Loop& loop_;
  std::string bytes_;
  std::size_t written_ = 0;
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_: goes first
};

/// Reads what a child writes: at most 64 KiB in a turn of the loop, and no more than can be handled
/// in about a millisecond, so that a flood of short lines costs the others no more than one of long
/// ones. What is not read waits in the pipe, and so does the child.
class OutputPipe {
 public:
  using OnBytes = std::function<void(std::string_view)>;
  using OnClosed = std::function<void()>;

  OutputPipe(loop::Loop& loop, OnBytes on_bytes, OnClosed on_closed);

  /// The child's end. Throws std::system_error.
  Fd open();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  /// Takes no more; on_closed isn't called.
  void close();

 private:
  void read_on();

  loop::Loop& loop_;
  OnBytes on_bytes_;
  OnClosed on_closed_;
  std::size_t budget_;  ///< bytes for the next turn
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_: goes first
};

}  // namespace w8y::process
