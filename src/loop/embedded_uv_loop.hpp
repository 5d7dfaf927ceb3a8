// libuv, for whoever needs it: names, threads, signals, words from other threads.
#pragma once

#include <uv.h>

#include <memory>

#include "loop/watch.hpp"

namespace w8y::loop {

class Loop;

/// A uv_loop_t that is one of the descriptors of our own loop, and has its turn when that is ready,
/// or when uv_backend_timeout() says that something can't wait. The other way round, each turn
/// would wait twice: for libuv, and for what we watch ourselves.
class EmbeddedUvLoop {
 public:
  explicit EmbeddedUvLoop(Loop& loop);
  /// Everything that was begun on it has ended or is waited for.
  ~EmbeddedUvLoop();
  EmbeddedUvLoop(const EmbeddedUvLoop&) = delete;
  EmbeddedUvLoop& operator=(const EmbeddedUvLoop&) = delete;

  /// Whoever asks is about to begin something: libuv hears of it with its next turn.
  [[nodiscard]] uv_loop_t* get() {
    started_ = true;
    return &uv_;
  }
  /// Something was begun, or is at its end: the loop must not wait before iterate().
  [[nodiscard]] bool has_to_run() const { return started_ || uv_backend_timeout(&uv_) == 0; }
  void turn();
  /// Whether something is left that keeps a loop going.
  [[nodiscard]] bool alive();

 private:
  uv_loop_t uv_{};
  /// uv_run() does nothing on a loop without a handle that keeps it going.
  uv_check_t keeper_{};
  bool started_ = true;
  std::unique_ptr<Watch> watch_;  ///< of libuv's own descriptor
};

}  // namespace w8y::loop
