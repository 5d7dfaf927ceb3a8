// Readiness of a descriptor and delivery of signals, as objects: constructing registers,
// destroying unregisters.
#pragma once

#include <uv.h>

#include <functional>

namespace w8y::loop {

class Loop;
class PollSet;

/// Watches a descriptor that somebody else owns (and has made non-blocking); destroy the Watch
/// before the descriptor is closed. That may happen in its callback, as the last thing it does.
class Watch {
 public:
  using Callback = std::function<void(bool readable, bool writable)>;

  /// Starts with nothing wanted.
  Watch(Loop& loop, int fd, Callback callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What to wait for. Throws std::system_error if the descriptor can't be watched. A hang-up or an
  /// error is told as readable and writable, whichever is wanted.
  void want(bool read, bool write);
  /// Whether the watch alone keeps Loop::run() going. It does unless told otherwise.
  void keep_loop_alive(bool keep);

 private:
  friend class PollSet;
  void on_ready(unsigned events);
  void hold_loop();

  PollSet& polls_;
  const int fd_;
  const Callback callback_;
  unsigned wanted_ = 0;  ///< epoll's bits
  bool keeps_loop_ = true;
  bool holds_loop_ = false;
};

/// Calls back on the loop, not in the signal handler.
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
