// Processes that lost their parent and became ours: reaped, so that no zombie is left, and at the
// end killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/timers.hpp"
#include "loop/watch.hpp"

namespace w8y::process {

/// Children that we started, and that somebody waits for: from the spawn until they are reaped.
std::set<pid_t>& started_children();

/// Children that another process starts for us: how many were asked for, and about how many it has
/// told. One that exits before we were told of it is no orphan.
struct HelperChildren {
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
};
HelperChildren& announced_children();

/// While it lives, this process is the parent of whatever its descendants leave behind
/// (PR_SET_CHILD_SUBREAPER). One at a time, on the loop's thread. At most once a second it looks
/// who has exited: thousands of runs cost it nothing.
class Orphans {
 public:
  explicit Orphans(loop::Loop& loop);
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  /// SIGKILL to all of them, and to those that this sets free, until none is left or the time is
  /// over: each look is at all processes of the host, and one may be held by who traces it. What
  /// was our child before we began is somebody else's business. Returns how many.
  std::size_t kill_all(Duration limit = std::chrono::seconds(1));
  [[nodiscard]] std::size_t reaped() const { return reaped_; }
  /// Whether all processes are being looked at, on another thread.
  [[nodiscard]] bool scanning() const { return scanning_; }

  struct ChildState {
    pid_t pid = 0;
    bool zombie = false;
  };

 private:
  void listen();
  void look();
  void sweep();
  void scanned(const std::vector<ChildState>& found);
  void reap(pid_t pid);
  [[nodiscard]] static bool know_all();
  [[nodiscard]] bool is_orphan(pid_t pid) const;

  loop::Loop& loop_;
  std::set<pid_t> inherited_;  ///< ours before we began
  std::size_t reaped_ = 0;
  std::optional<loop::SignalWatch> exits_;
  Timer timer_;
  bool again_ = false;              ///< a look has to be made once more
  bool scanning_ = false;           ///< on another thread
  std::shared_ptr<Orphans*> self_;  ///< for its end: we may be gone by then
};

}  // namespace w8y::process
