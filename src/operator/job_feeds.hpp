// Changes of queues and jobs. Each change is one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/feed_access.hpp"
#include "store/thoonk/job_maintenance.hpp"

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
  /// Returns how often the job was cancelled since it was put or retried.
  std::int64_t failures(const std::string& id);

  /// Performs all maintenance (job_maintenance.hpp), also if other clients do the same.
  MaintenanceResult maintain(MaintenanceTerms terms);
  /// Stalls the job when its run ends, unless the run finishes it. False: the run has no claim on
  /// the job.
  bool stall_at_end(const std::string& id, const std::string& run);

  enum class Whereabouts { gone, there, stalled };
  Whereabouts find(const std::string& id);

 private:
  std::vector<Done> change(const char* what, const std::vector<std::string>& ids,
                           const std::string& channel, const std::string& result);
};

}  // namespace w8y::verbs
