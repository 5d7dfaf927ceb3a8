// Wakes a loop from another thread.
#pragma once

#include <uv.h>

#include <functional>

namespace w8y::loop {

class Loop;

/// Wake-up of a loop. Keeps the loop alive while it exists.
class AsyncWakeup {
 public:
  /// The loop calls `woken` at least once after the last call of wake().
  AsyncWakeup(Loop& loop, std::function<void()> woken);
  ~AsyncWakeup();
  AsyncWakeup(const AsyncWakeup&) = delete;
  AsyncWakeup& operator=(const AsyncWakeup&) = delete;

  /// Callable from any thread, while the object exists.
  void wake() { uv_async_send(handle_); }
  /// Sets whether the object keeps the loop alive.
  void keep_loop_alive(bool alive);

 private:
  uv_async_t* handle_;  // freed by its close callback
  std::function<void()> woken_;
};

}  // namespace w8y::loop
