// Stream processes that are ending and whose executor no longer exists.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/timers.hpp"
#include "executor/stream_process.hpp"

namespace w8y::executor {

/// Ends stream processes. Each has end of file on its standard input. If it does not exit within
/// `kill_grace`, it gets SIGTERM, and after another `kill_grace` SIGKILL. Outlives the executors
/// that move their processes here. Its destructor kills the remaining processes.
class RetiringStreams : private StreamOwner {
 public:
  explicit RetiringStreams(loop::Loop& loop);

  void add(std::unique_ptr<StreamProcess> process);
  /// Calls `gone` from the loop once no process is left.
  void when_none(std::function<void()> gone);
  void kill_all();

 private:
  // StreamOwner
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
