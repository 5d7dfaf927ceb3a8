// Jobs of a feed in their store, the port between JobSource, which decides what a settlement does,
// and Redis.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "core/ended_run.hpp"
#include "store/work_queue.hpp"

namespace w8y::store::thoonk {

struct Finish {
  std::string result;  ///< a JSON object
};
/// Moves the job to the back of its queue and counts a failure. Until `after` has passed, the job
/// is delayed.
struct Cancel {
  Duration after{0};
};
/// Stalls the job until an operator retries it.
struct Stall {
  std::string why;
  Duration instead{0};  ///< delay if the breaker prevents the stall
};
/// Moves the job to the back of its queue without counting a failure.
struct Requeue {};
/// Moves the job to the end of its queue from which jobs are claimed, without counting a failure.
struct PutBack {};
/// Does nothing: the lease expires, and maintenance recovers the job.
struct Leave {};
using JobDisposition = std::variant<Finish, Cancel, Stall, Requeue, PutBack, Leave>;

/// Settlement of a run of a job.
struct JobSettlement : EndedRun {
  JobDisposition what;
};

class JobQueueHandler : public virtual WorkQueueHandler {
 public:
  /// Called when a client reports that there is a job, or a free fleet slot. Any client can send
  /// this at any rate.
  virtual void on_news() = 0;
  /// Called when Redis has reported that there is a job.
  virtual void on_added() { on_news(); }
};

class JobQueue : public WorkQueue {
 public:
  /// Maximum number of delayed jobs of a list on this host. Further ones are cancelled at once.
  static constexpr std::size_t most_held_back = 1024;

  /// Claims up to `wanted` jobs. At most one claim at a time; one on_claimed() follows.
  virtual void claim(std::size_t wanted) = 0;
  /// Peeks at the queue and requests on_added() as soon as it has a job. Must be called when the
  /// queue is probably empty. Returns the cost in commands; 0: on_added() is requested already, or
  /// Redis cannot report changes.
  [[nodiscard]] virtual double track() = 0;
  virtual void settle(JobSettlement&& settlement) = 0;
  /// Ends all delays by cancelling the jobs now. No claim follows.
  virtual void retire() = 0;
};

}  // namespace w8y::store::thoonk
