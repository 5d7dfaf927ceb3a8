// Changes of queues and jobs. Each change is one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/feed_access.hpp"
#include "store/thoonk/job_maintenance.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

using store::thoonk::MaintenanceResult;
using store::thoonk::MaintenanceTerms;

/// Queue, or feed of jobs. All functions throw redis::RedisError and FeedRefused.
class QueueFeed : public FeedAccess {
 public:
  /// `kind`: queue or job.
  QueueFeed(FeedServer at, const std::string& feed, FeedKind kind = FeedKind::queue)
      : FeedAccess(at, feed, kind), kind_(kind) {}

  /// Puts items in this order, many per call. `high`: each before all queued items.
  void put(const std::vector<FeedItem>& items, bool high);
  /// Removes the next item of a queue, or claims the next job; nullopt: there is none.
  std::optional<FeedItem> get();

 private:
  FeedKind kind_;
};

enum class JobChange { finish, cancel, stall, retry, retract, next };

class JobFeed : public QueueFeed {
 public:
  JobFeed(FeedServer at, const std::string& feed) : QueueFeed(at, feed, FeedKind::job) {}

  struct Done {
    bool done = false;
    std::string holder;  ///< holder of the lease of its claim, which alone can finish it
  };
  /// Changes jobs. Not for JobChange::finish.
  std::vector<Done> change(JobChange what, const std::vector<std::string>& ids);
  Done finish(const std::string& id, const std::optional<std::string>& result);
  /// Adds a job with this ID. False: the feed has a job with this ID, and nothing was changed.
  bool put_unique(const FeedItem& job, bool high);

  /// A claim without a lease that was ended.
  struct Returned : Done {
    bool stalled = false;  ///< it has reached `max_failures`
  };
  struct ReturnResult {
    std::vector<Returned> jobs;
    std::string unwritten;  ///< why the run records were not written; empty: they were
  };
  /// Terms of a failure that an operator reports.
  struct FailTerms {
    unsigned max_failures = 0;  ///< 0 = never stalled
    HistoryLimits history;
    std::string host;    ///< of the operator
    std::string reason;  ///< for operators
  };
  /// Counts a failure of each claimed job, and returns the job to the back of the queue or stalls
  /// it. Refuses a job that runs under a lease.
  ReturnResult fail(const std::vector<std::string>& ids, const FailTerms& failure);
  /// Returns claimed jobs to the end of the queue from which jobs are claimed, and counts nothing.
  /// Refuses a job that runs under a lease.
  ReturnResult requeue(const std::vector<std::string>& ids);
  /// Returns how often the job was cancelled since it was put or retried.
  std::int64_t failures(const std::string& id);

  /// Performs all maintenance (job_maintenance.hpp), also if other clients do the same.
  MaintenanceResult maintain(MaintenanceTerms terms);
  /// Stalls the job when its run ends, unless the run finishes it. False: the run has no claim on
  /// the job.
  bool stall_at_end(const std::string& id, const std::string& run);

  enum class Whereabouts { gone, there, stalled };
  Whereabouts find(const std::string& id);
  /// Returns the job; nullopt: the feed does not have it.
  std::optional<view::ItemView> job(const std::string& id);
  /// Returns the newest runs of the job; empty if there are none, or the history cannot be read.
  std::vector<view::RunRecord> runs(const std::string& id);
  /// Returns the time of Redis.
  WallTime now();

 private:
  std::vector<Done> change(const char* what, const std::vector<std::string>& ids,
                           const std::string& channel, const std::string& result);
  ReturnResult end_claims(const char* how, const std::vector<std::string>& ids,
                          const FailTerms& failure);
};

}  // namespace w8y::verbs
