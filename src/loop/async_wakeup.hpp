// A word to a loop from another thread.
#pragma once

#include <uv.h>

#include <functional>

namespace w8y::loop {

class Loop;

/// Keeps the loop going while it lives.
class AsyncWakeup {
 public:
  /// `woken` is called from the loop, once or more often after the last call of wake().
  AsyncWakeup(Loop& loop, std::function<void()> woken);
  ~AsyncWakeup();
  AsyncWakeup(const AsyncWakeup&) = delete;
  AsyncWakeup& operator=(const AsyncWakeup&) = delete;

  /// From any thread, while this lives.
  void wake() { uv_async_send(handle_); }
  /// Whether it keeps the loop going.
  void keep_loop_alive(bool alive);

 private:
  uv_async_t* handle_;  // freed by its close callback
  std::function<void()> woken_;
};

}  // namespace w8y::loop
