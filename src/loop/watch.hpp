// Readiness of a descriptor and delivery of signals, as objects: constructing registers,
// destroying unregisters.
#pragma once

#include <uv.h>

#include <functional>

namespace w8y::loop {

class Loop;

/// Watches a descriptor that somebody else owns, and makes it non-blocking; destroy the Watch
/// before the descriptor is closed. That may happen in its callback, as the last thing it does.
class Watch {
 public:
  using Callback = std::function<void(bool readable, bool writable)>;

  /// Throws std::system_error if the descriptor can't be watched. Starts with nothing wanted.
  Watch(Loop& loop, int fd, Callback callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What to wait for. A hang-up or an error is told as readable and writable, whichever is wanted.
  void want(bool read, bool write);
  /// Whether the watch alone keeps Loop::run() going. It does unless told otherwise.
  void keep_loop_alive(bool keep);

 private:
  static void on_poll(uv_poll_t* handle, int status, int events);

  uv_poll_t* handle_;  // freed by its close callback, which may come after this object is gone
  Callback callback_;
  int wanted_ = 0;
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
