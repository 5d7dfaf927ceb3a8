// Our ends of a child's standard streams.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/timers.hpp"
#include "loop/watch.hpp"
#include "process/fd.hpp"

namespace w8y::process {

/// /dev/null, opened once for all. Throws std::system_error.
int null_device();

/// Feeds a child. What fits into the pipe is written before the child is there; the rest as it is
/// taken. Nobody reading is no mistake. Unless it is to be kept open, end of file follows the
/// bytes.
class InputPipe {
 public:
  /// All that was waiting is in the pipe, or nobody will take it any more.
  using OnTaken = std::function<void()>;

  InputPipe(loop::Loop& loop, std::string bytes) : loop_(loop), bytes_(std::move(bytes)) {}
  InputPipe(loop::Loop& loop, OnTaken on_taken)
      : loop_(loop), keep_open_(true), on_taken_(std::move(on_taken)) {}

  /// The child's end. Throws std::system_error.
  Fd open();
  /// Only for one that is kept open. Bytes for a reader that is gone are dropped.
  void add(std::string_view bytes);
  /// End of file, after what waits.
  void finish();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  /// Nobody will read any more.
  void drop() { close(); }
  /// Bytes that wait here for room in the pipe.
  [[nodiscard]] std::size_t waiting() const { return bytes_.size() - written_; }
  /// Bytes that nobody has read: those, and what lies in the pipe; or, once it is closed, what lay
  /// there then.
  [[nodiscard]] std::size_t unread() const;

 private:
  void on_writable();
  void write_on();
  void close();

  loop::Loop& loop_;
  bool keep_open_ = false;
  OnTaken on_taken_;
  std::size_t unread_ = 0;  ///< when it was closed
  std::string bytes_;
  std::size_t written_ = 0;
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_: goes first
};

/// Reads what a child writes: at most 64 KiB in a turn of the loop, and no more than can be handled
/// in about a millisecond, so that a flood of short lines costs the others no more than one of long
/// ones. What is not read waits in the pipe, and so does the child.
///
/// One that keeps on for longer is paced: handling what it says gets a share of the time, not a
/// number of bytes, so that what is cheap to handle comes through faster. In between it is not
/// looked at. What it was asked for is no flood: see excuse().
class OutputPipe {
 public:
  using OnBytes = std::function<void(std::string_view)>;
  using OnClosed = std::function<void()>;

  /// The share of the loop's time of one pipe is 1/16, that of all that are paced at once 1/4.
  static constexpr int share_of_one = 16;
  static constexpr int share_of_all = 4;
  /// Time of handling that is not charged to a child that has said little for a while.
  static constexpr Duration burst = std::chrono::milliseconds(50);

  OutputPipe(loop::Loop& loop, OnBytes on_bytes, OnClosed on_closed);
  ~OutputPipe() { resume(); }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  /// The child's end. Throws std::system_error.
  Fd open();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }
  /// Nothing is read until release().
  void hold() { watch_->want(false, false); }
  void release() {
    if (watch_) watch_->want(true, false);
  }
  /// The child has exited: what lies in the pipe is read without a pause.
  void hurry();
  /// So much of the time that handling these bytes takes does not count, because they were asked
  /// for. From inside on_bytes.
  void excuse(Duration time) { excused_ += time; }
  /// Takes no more; on_closed isn't called.
  void close();

 private:
  void read_on();
  void charge(Instant began, std::size_t bytes);
  void pause(Duration time);
  void resume();

  loop::Loop& loop_;
  OnBytes on_bytes_;
  OnClosed on_closed_;
  std::size_t budget_;       ///< bytes for the next turn
  Duration used_{0};         ///< time of handling that its share has not made good yet
  Instant counted_;          ///< when that was so
  Duration excused_{0};      ///< of what is being handled
  std::size_t unpaced_ = 0;  ///< bytes to come that are not charged to it
  Timer pause_;              ///< set while it is not looked at
  Fd fd_;
  std::optional<loop::Watch> watch_;  // after fd_: goes first
};

}  // namespace w8y::process
