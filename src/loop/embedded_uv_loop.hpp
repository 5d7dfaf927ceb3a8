// libuv, for names, threads, signals and wake-ups from other threads.
#pragma once

#include <uv.h>

#include <memory>

#include "loop/watch.hpp"

namespace w8y::loop {

class Loop;

/// A uv_loop_t that is one of the descriptors of the Loop. It runs when that descriptor is ready,
/// or when uv_backend_timeout() is 0. If the Loop were a descriptor of libuv, each loop iteration
/// would wait twice: for libuv and for the Loop.
class EmbeddedUvLoop {
 public:
  explicit EmbeddedUvLoop(Loop& loop);
  /// Waits for the requests that were started on the loop. All handles must be closing.
  ~EmbeddedUvLoop();
  EmbeddedUvLoop(const EmbeddedUvLoop&) = delete;
  EmbeddedUvLoop& operator=(const EmbeddedUvLoop&) = delete;

  /// The loop, for the start of a request. libuv runs in the next loop iteration.
  [[nodiscard]] uv_loop_t* get() {
    started_ = true;
    return &uv_;
  }
  /// Whether a request was started or is about to end. The Loop must not wait before turn().
  [[nodiscard]] bool has_to_run() const { return started_ || uv_backend_timeout(&uv_) == 0; }
  void turn();
  /// Whether an active request or handle keeps the loop alive.
  [[nodiscard]] bool alive();

 private:
  uv_loop_t uv_{};
  /// uv_run() does nothing on a loop without an active handle.
  uv_check_t keeper_{};
  bool started_ = true;
  std::unique_ptr<Watch> watch_;  ///< of the descriptor of libuv
};

}  // namespace w8y::loop
