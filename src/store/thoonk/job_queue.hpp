// The jobs of a feed as their store has them: the port between deciding when to claim some and what
// their ends mean (JobSource) and doing that in Redis.
#pragma once

#include <string>
#include <variant>

#include "core/ended_run.hpp"
#include "store/work_queue.hpp"

namespace w8y::store::thoonk {

struct Finish {
  std::string result;  ///< a JSON object
};
/// To the back of its queue, and one failure is counted. Until then it is held back.
struct Cancel {
  Duration after{0};
};
/// Out of the running until somebody retries it.
struct Stall {
  std::string why;
};
/// To the back of its queue, and nothing is counted.
struct Requeue {};
/// To the end of its queue that jobs are taken from, and nothing is counted.
struct PutBack {};
/// Nothing: the lease runs out, and maintenance does the rest.
struct Leave {};
using JobDisposition = std::variant<Finish, Cancel, Stall, Requeue, PutBack, Leave>;

/// All that Redis is told about a run of a job that is over.
struct JobSettlement : EndedRun {
  JobDisposition what;
};

class JobQueueHandler : public WorkQueueHandler {
 public:
  /// Somebody says that there is a job, or room for one. Anybody can say that, and as often as he
  /// likes.
  virtual void on_news() = 0;
};

class JobQueue : public WorkQueue {
 public:
  /// Of those that a list holds back on this host; any beyond is cancelled at once.
  static constexpr std::size_t most_held_back = 1024;

  /// Before anything else; and again with a changed rule.
  virtual void use(ListConfigPtr rule) = 0;
  virtual void settle(JobSettlement&& settlement) = 0;
  /// There will be no take any more: what is held back is cancelled now.
  virtual void retire() = 0;
};

}  // namespace w8y::store::thoonk
