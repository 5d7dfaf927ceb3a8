// Orphan processes that this process adopts: reaps them, so that no zombie remains, and kills them
// at the end.
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

/// Children that this process started and waits for, from their spawn until they are reaped.
std::set<pid_t>& started_children();

/// Numbers of requests to the helper and of its replies. While replies are missing, an unknown
/// child may be one that the helper has started, so it does not count as an orphan process.
struct HelperChildren {
  std::uint64_t requested = 0;
  std::uint64_t replied = 0;
};
HelperChildren& announced_children();

/// Makes this process the parent of orphan processes of its descendants (PR_SET_CHILD_SUBREAPER)
/// while it exists. At most one exists, on the loop's thread. It checks for exited children at most
/// once per second, so thousands of runs cost nothing.
class Orphans {
 public:
  explicit Orphans(loop::Loop& loop);
  ~Orphans();
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

  /// Sends SIGKILL to all orphan processes, and to processes that become orphans by that, until
  /// none is left or `limit` is over. Each pass reads all processes of the host, and a tracer may
  /// keep a process alive. Children from before the construction are left alone. Returns the number
  /// of killed processes.
  std::size_t kill_all(Duration limit = std::chrono::seconds(1));
  [[nodiscard]] std::size_t reaped() const { return reaped_; }
  /// Returns whether another thread is reading all processes.
  [[nodiscard]] bool scanning() const { return scanning_; }

  struct ChildState {
    pid_t pid = 0;
    bool zombie = false;
  };

 private:
  void listen();
  void check();
  void sweep();
  void scanned(const std::vector<ChildState>& found);
  void reap(pid_t pid);
  [[nodiscard]] static bool know_all();
  [[nodiscard]] bool is_orphan(pid_t pid) const;

  loop::Loop& loop_;
  std::set<pid_t> inherited_;  ///< children before the construction
  std::size_t reaped_ = 0;
  std::optional<loop::SignalWatch> exits_;
  Timer timer_;
  bool again_ = false;              ///< another check is needed
  bool scanning_ = false;           ///< a check runs on another thread
  std::shared_ptr<Orphans*> self_;  ///< for the other thread, which may outlive this object
};

}  // namespace w8y::process
