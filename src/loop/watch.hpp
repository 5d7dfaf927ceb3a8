// Objects for readiness of a descriptor and delivery of signals: the constructor registers, the
// destructor unregisters.
#pragma once

#include <uv.h>

#include <functional>

namespace w8y::loop {

class Loop;
class PollSet;

/// Watches a non-blocking descriptor that the caller owns. Destroy the Watch before the descriptor
/// is closed. The callback may destroy the Watch as its last action.
class Watch {
 public:
  using Callback = std::function<void(bool readable, bool writable)>;

  /// Starts without an event to wait for.
  Watch(Loop& loop, int fd, Callback callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Sets the events to wait for. A hang-up or an error is reported as readable and writable,
  /// regardless of `read` and `write`. Throws std::system_error if the descriptor cannot be
  /// watched.
  void want(bool read, bool write);
  /// Sets whether the watch alone keeps Loop::run() running. It does by default.
  void keep_loop_alive(bool keep);

 private:
  friend class PollSet;
  void on_ready(unsigned events);
  void hold_loop();

  PollSet& polls_;
  const int fd_;
  const Callback callback_;
  unsigned wanted_ = 0;  ///< bits of epoll
  bool keeps_loop_ = true;
  bool holds_loop_ = false;
};

/// Calls back from the loop, not in the signal handler.
class SignalWatch {
 public:
  using Callback = std::function<void(int signal)>;

  SignalWatch(Loop& loop, int signal, Callback callback);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  uv_signal_t* handle_;
  Callback callback_;
};

}  // namespace w8y::loop
