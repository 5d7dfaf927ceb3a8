// Processes that lost their parent and became ours: reaped, so that no zombie is left, and at the
// end killed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <set>

#include <w8y/timers.hpp>

#include "loop/watch.hpp"

namespace w8y::process {

/// Those that we started: whoever did waits for them. From the spawn until they are reaped.
std::set<pid_t>& started_children();

/// While it lives, this process is the parent of whatever its descendants leave behind
/// (PR_SET_CHILD_SUBREAPER). One at a time, on the loop's thread. At most once a second it looks
/// who has exited: thousands of runs cost it nothing.
class Orphans {
 public:
  explicit Orphans(loop::Loop& loop);
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  /// SIGKILL to all of them, and to those that this sets free, until none is left or time is over.
  /// What was our child before we began is somebody else's business. Returns how many.
  std::size_t kill_all();
  [[nodiscard]] std::size_t reaped() const { return reaped_; }

 private:
  void listen();
  void look();
  void sweep();
  void reap(pid_t pid);
  [[nodiscard]] bool is_orphan(pid_t pid) const;

  loop::Loop& loop_;
  std::set<pid_t> inherited_;  ///< ours before we began
  std::size_t reaped_ = 0;
  std::optional<loop::SignalWatch> exits_;
  Timer timer_;
};

}  // namespace w8y::process
