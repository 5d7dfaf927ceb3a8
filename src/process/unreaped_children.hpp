// Killed children that no caller waits for. Kept until they can be reaped.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fd.hpp"
#include "core/outcome.hpp"

namespace w8y::process {

/// Reaps a child. False: it has not exited yet. `used`: resources of the child and of the processes
/// that it waited for; memory only if its peak exceeds the peak of this process.
bool reap(int pidfd, pid_t pid, ProcessEnd& end, ResourceUse* used = nullptr);
/// Sends a signal to the process of the pidfd, and never to another one with the same PID.
void signal_by(int pidfd, int number);

/// Killed children of one thread. A zombie occupies an entry in the process table. They are checked
/// whenever another child is created or destroyed.
class UnreapedChildren {
 public:
  /// `start`: result of start_kind(), if the child has not called exec.
  void add(Fd pidfd, pid_t pid, std::string start = {}) {
    all_.push_back({std::move(pidfd), pid, std::move(start)});
  }
  void sweep();
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::size_t of_start(std::string_view start) const;

 private:
  struct One {
    Fd pidfd;
    pid_t pid = 0;
    std::string start;
  };
  std::vector<One> all_;
};

/// Returns the children of this thread.
UnreapedChildren& forgotten();

}  // namespace w8y::process
