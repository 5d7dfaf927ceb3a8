// Children that nobody waits for any more, until they can be reaped.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <utility>
#include <vector>

#include <w8y/outcome.hpp>

#include "process/fd.hpp"

namespace w8y::process {

/// False: it has not exited yet.
bool reap(int pidfd, pid_t pid, ProcessEnd& end);
/// To the very process, whoever has its number now.
void signal_by(int pidfd, int number);

/// Killed and forgotten: a zombie holds a place in the process table. Looked through whenever
/// another child is made or destroyed.
class Forgotten {
 public:
  void add(Fd pidfd, pid_t pid) { all_.push_back({std::move(pidfd), pid}); }
  void sweep();
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  struct One {
    Fd pidfd;
    pid_t pid = 0;
  };
  std::vector<One> all_;
};

/// Those of this thread.
Forgotten& forgotten();

}  // namespace w8y::process
