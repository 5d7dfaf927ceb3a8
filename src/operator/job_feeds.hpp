// Changes of queues and jobs. Each change is one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/feed_access.hpp"
#include "operator/request_once.hpp"
#include "store/thoonk/job_maintenance.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"

namespace w8y::verbs {

using store::thoonk::MaintenanceResult;
using store::thoonk::MaintenanceTerms;

/// Maximum number of jobs that JobFeed::put() puts in one call.
inline constexpr std::size_t max_put = 1000;
/// Maximum size of an ID in bytes. Each reply and each message contains the ID.
inline constexpr std::size_t max_job_id = std::size_t{64} << 10;
/// Returns why a job cannot have this ID; empty: it can.
std::string id_error(const std::string& id);

/// Queue, or feed of jobs. All functions throw redis::RedisError and FeedRefused.
class QueueFeed : public FeedAccess {
 public:
  /// `kind`: queue or job. Jobs are put by JobFeed.
  QueueFeed(FeedServer at, const std::string& feed, FeedKind kind = FeedKind::queue)
      : FeedAccess(at, feed, kind) {}

  /// Puts items in this order, many per call. `high`: each before all queued items.
  void put(const std::vector<FeedItem>& items, bool high);
  /// Removes the next item of a queue, or claims the next job; nullopt: there is none.
  std::optional<FeedItem> get();

 protected:
  /// Puts items by a script that has the arguments `before`, then the ID, the item and `after` of
  /// each item.
  void put_all(const redis::Script& script, const redis::Command& keys,
               const redis::Command& before, const std::vector<FeedItem>& items,
               const redis::Command& after);
};

struct NewJob {
  std::string id;
  std::string payload;
  bool high = false;                  ///< before all queued jobs
  bool is_new = true;                 ///< the ID is of RandomIds
  std::optional<Duration> keep = {};  ///< time for which its result is kept; nullopt: it is not
  bool rerun = false;                 ///< if the feed has the job, it runs again with this payload
};
/// Result of putting a job, as a digit of RecordedReply::results.
enum class PutAs : char {
  exists = '0',
  added = '1',
  replaced = '2',    ///< NewJob::rerun: the job is queued or delayed, and has the new payload
  runs_again = '3',  ///< NewJob::rerun: the payload waits for the end of the active run
  is_stalled = '4',  ///< NewJob::rerun: the job is stalled; nothing was changed
};
struct PutTerms {
  bool create = false;  ///< creates the feed if it does not exist
  RequestOnce request = {};
};

/// Result of a job, which is kept after the job has been finished, or why the job is stalled.
struct KeptResult {
  std::string state;  ///< "finished" or "stalled"
  std::string run;    ///< empty: an operator has ended the claim
  WallTime time{0};
  std::optional<std::string> result;  ///< nullopt: the job was finished without one
  bool truncated = false;             ///< because it was longer than 1 MiB
  std::string reason;                 ///< why the job is stalled
};

/// A job, or its kept result.
struct FeedJobState {
  std::string state;                   ///< of the job, or "finished"
  std::optional<view::ItemView> job;   ///< nullopt: it is finished
  std::optional<KeptResult> end = {};  ///< of a finished or stalled job
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
  /// Puts at most max_put jobs in one call. A job whose ID the feed has is not put.
  store::RecordedReply put(const std::vector<NewJob>& jobs, const PutTerms& terms);
  /// Puts jobs with new IDs, many per call.
  void put(const std::vector<FeedItem>& items, bool high);
  /// Puts one job. False: the feed has a job with this ID, and nothing was changed.
  bool put_unique(const NewJob& job) { return put_one(job) == PutAs::added; }
  PutAs put_one(const NewJob& job) { return PutAs{put({job}, {}).results.at(0)}; }
  /// Returns a job, or its kept result; nullopt: there is neither.
  std::optional<FeedJobState> state(const std::string& id);
  /// Returns the kept result of a job; nullopt: there is none.
  std::optional<KeptResult> kept_result(const std::string& id);

  /// Result of ending a claim that has no lease.
  struct Returned : Done {
    bool stalled = false;  ///< it has reached `max_failures`
  };
  struct ReturnResult {
    std::vector<Returned> jobs;
    std::string unwritten;  ///< why the run records were not written; empty: they were
  };
  /// Failure that an operator reports, with the settings of the list.
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
  [[nodiscard]] redis::Command keys_of_put() const;
  [[nodiscard]] std::optional<KeptResult> stall_cause(const std::string& id);
  template <class Changed>
  void record(const char* change, const std::vector<std::string>& ids,
              const std::vector<Changed>& changed, const std::string& reason);
  std::vector<Done> change(const char* what, const std::vector<std::string>& ids,
                           const std::string& channel, const std::string& result);
  ReturnResult end_claims(const char* how, const std::vector<std::string>& ids,
                          const FailTerms& failure);
};

}  // namespace w8y::verbs
