// This process's ends of a child's standard streams.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/fd.hpp"
#include "core/timers.hpp"
#include "loop/watch.hpp"

namespace w8y::process {

/// Returns /dev/null, opened once. Throws std::system_error.
int null_device();

/// Input of a child. Bytes that fit into the pipe are written before the child starts, the rest as
/// the child reads. A closed reader is no error. Unless `keep_open_`, end of file follows the
/// bytes.
class InputPipe {
 public:
  /// Called when all waiting bytes were written, or the reader has closed its end.
  using OnTaken = std::function<void()>;

  InputPipe(loop::Loop& loop, std::string bytes) : loop_(loop), bytes_(std::move(bytes)) {}
  InputPipe(loop::Loop& loop, OnTaken on_taken)
      : loop_(loop), keep_open_(true), on_taken_(std::move(on_taken)) {}

  /// Returns the child's end. Throws std::system_error.
  Fd open();
  /// Adds bytes, with `keep_open_` only. If the reader has closed its end, they are dropped.
  void add(std::string_view bytes);
  /// Closes the pipe, after the waiting bytes.
  void finish();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  /// Closes the pipe, because the child no longer reads.
  void drop() { close(); }
  /// Returns the bytes that wait for room in the pipe.
  [[nodiscard]] std::size_t waiting() const { return bytes_.size() - written_; }
  /// Returns the number of bytes that the child has not read: waiting bytes and those in the pipe.
  /// After it is closed, the number of bytes that were never read.
  [[nodiscard]] std::size_t unread() const;

 private:
  void on_writable();
  void write_on();
  void close();

  loop::Loop& loop_;
  bool keep_open_ = false;
  OnTaken on_taken_;
  std::size_t unread_ = 0;  ///< after closing: number of bytes that the child never read
  std::string bytes_;
  std::size_t written_ = 0;
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_, so destroyed first
};

/// Output of a child. In one loop iteration it reads at most 64 KiB, and at most as much as can be
/// handled in about 1 ms. This limits the delay of other work, whether lines are short or long.
/// Further output waits in the pipe. When the pipe is full, the child blocks.
///
/// A child that writes for longer is paced: handling its output may take a share of the loop's
/// time. The limit is a time, not a number of bytes, so that output that is cheap to handle passes
/// faster. During a pause the pipe is not read. Requested output is exempt: see excuse().
class OutputPipe {
 public:
  using OnBytes = std::function<void(std::string_view)>;
  using OnClosed = std::function<void()>;

  /// Divisors: one pipe gets 1/16 of the loop's time, all paced pipes together 1/4.
  static constexpr int share_of_one = 16;
  static constexpr int share_of_all = 4;
  /// Handling time that is not charged to a child that has written little before.
  static constexpr Duration burst = std::chrono::milliseconds(50);

  OutputPipe(loop::Loop& loop, OnBytes on_bytes, OnClosed on_closed);
  ~OutputPipe() { resume(); }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  /// Returns the child's end. Throws std::system_error.
  Fd open();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  /// Pauses reading until release().
  void hold() { watch_->want(false, false); }
  void release() {
    if (watch_) watch_->want(true, false);
  }
  /// Called when the child has exited: reads the bytes in the pipe without pauses.
  void hurry();
  /// Subtracts `time` from the handling time that is charged to the child. Used for bytes that w8yd
  /// requested. Must be called in on_bytes.
  void excuse(Duration time) { excused_ += time; }
  /// Stops reading, without a call of on_closed.
  void close();

 private:
  void read_on();
  void charge(Instant began, std::size_t bytes);
  void pause(Duration time);
  void resume();

  loop::Loop& loop_;
  OnBytes on_bytes_;
  OnClosed on_closed_;
  std::size_t budget_;       ///< bytes for the next loop iteration
  Duration used_{0};         ///< handling time that its share does not cover yet
  Instant counted_;          ///< time of the last change of `used_`
  Duration excused_{0};      ///< handling time of the current bytes that is not charged
  std::size_t unpaced_ = 0;  ///< number of next bytes that are not charged
  Timer pause_;              ///< set during a pause
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_, so destroyed first
};

}  // namespace w8y::process
