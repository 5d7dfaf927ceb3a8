// Stream processes on their way out, whose executor is gone.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/timers.hpp"
#include "executor/stream_process.hpp"

namespace w8y::executor {

/// Each is at end of file, and has `kill_grace` to exit by itself, and again after a SIGTERM.
/// Outlives the executors that leave their processes here. Destroying it kills what is left.
class RetiringStreams : private StreamOwner {
 public:
  explicit RetiringStreams(loop::Loop& loop);

  void take(std::unique_ptr<StreamProcess> process);
  /// Calls back once, when none is left; from the loop.
  void when_none(std::function<void()> gone);
  void kill_all();

 private:
  // of StreamOwner
  void on_run_over(StreamProcess&, const RunId&, RunEnd&&) override {}
  void on_room(StreamProcess&) override {}
  void on_leaving(StreamProcess&) override {}
  void on_process_ended(StreamProcess& process, StreamEnd&& end) override;

  void sweep();

  loop::Loop& loop_;
  std::vector<std::unique_ptr<StreamProcess>> leaving_;
  std::function<void()> gone_;
  Timer sweep_;
};

}  // namespace w8y::executor
