// Queues and jobs as they are changed: each change in one step.
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

/// All throw redis::RedisError and FeedRefused.
class QueueFeed : public FeedAccess {
 public:
  /// `kind`: queue or job.
  QueueFeed(FeedServer at, const std::string& feed, FeedKind kind = FeedKind::queue)
      : FeedAccess(at, feed, kind), kind_(kind) {}

  /// In this order; `high`: each before all that waits. Sends many at once.
  void put(const std::vector<FeedItem>& items, bool high);
  /// Takes the next item, or claims the next job; nullopt: there is none.
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
    std::string holder;  ///< who has the lease of its claim, and so is the one who can finish it
  };
  /// Not finish.
  std::vector<Done> change(JobChange what, const std::vector<std::string>& ids);
  Done finish(const std::string& id, const std::optional<std::string>& result);
  /// How often it was cancelled since it was put, or retried.
  std::int64_t failures(const std::string& id);

  /// All that maintenance does (job_maintenance.hpp), whoever else does it too.
  MaintenanceResult maintain(MaintenanceTerms terms);
  /// The job is stalled when its run ends, unless that finishes it. False: the run has no claim of
  /// it.
  bool stall_at_end(const std::string& id, const std::string& run);

  enum class Whereabouts { gone, there, stalled };
  Whereabouts find(const std::string& id);

 private:
  std::vector<Done> change(const char* what, const std::vector<std::string>& ids,
                           const std::string& channel, const std::string& result);
};

}  // namespace w8y::verbs
