// Maintenance of a feed of jobs, step by step. The caller executes the Redis calls.
//
// Recovers claims whose lease has ended, and claims without a lease after their timeout. Queues
// orphaned jobs again: a job is orphaned if two passes in a row find its ID in none of queue,
// claims and stalled jobs. For this, the queue is read page by page, and each ID is kept
// as a 64-bit hash. Then the jobs are read. IDs that were not in the queue are searched there
// again, because jobs move, and Redis checks the remaining ones in one atomic step.
// Records of jobs that no longer exist are removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/list_config.hpp"
#include "redis/reply_copy.hpp"
#include "store/script_call.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::store::thoonk {

struct MaintenanceTerms {
  std::string who;
  unsigned max_failures = 0;  ///< 0 = never stalled
  HistoryLimits history = HistoryLimits::none();
  Duration claim_timeout{0};  ///< 0 = never
  Duration interval{0};       ///< time during which no other host starts a pass
  bool always = false;        ///< run a full pass even if another host does one
};
MaintenanceTerms maintenance_terms(const ListConfig& rule, std::string who);

/// Numbers of jobs at one moment.
struct JobCounts {
  WallTime at{0};  ///< time of Redis
  std::int64_t queued = 0;
  std::int64_t claimed = 0;
  std::int64_t stalled = 0;
};

struct MaintenanceResult {
  JobCounts counts;  ///< when the pass started; without a time if another host runs it
  std::size_t taken_back = 0;
  std::size_t put_back = 0;
  std::size_t nowhere = 0;  ///< orphaned jobs that the next pass queues if they are still
                            ///< orphaned
  // Removed records of jobs that no longer exist:
  std::size_t claimed = 0;
  std::size_t stalled = 0;
  std::size_t cancelled = 0;
  std::size_t published = 0;
  std::size_t keep = 0;          ///< times for which results would be kept
  std::string other;             ///< host that runs the pass; empty = this host
  std::optional<Duration> next;  ///< time until another host may start a pass
};

/// Returns the call that recovers the claims of hosts that no longer exist. `rule`: of a list of
/// jobs.
ScriptCall recover_call(const FeedKeys& keys, const ListConfig& rule);

class JobMaintenance {
 public:
  JobMaintenance(const FeedKeys& keys, MaintenanceTerms terms);
  JobMaintenance(const JobMaintenance&) = delete;
  JobMaintenance& operator=(const JobMaintenance&) = delete;

  /// Returns the next call; nullopt = the pass has ended.
  [[nodiscard]] std::optional<ScriptCall> next() const;
  /// Processes the reply, which must not be an error. After an error, the pass ends and a later
  /// pass starts again.
  void answered(const redis::ReplyCopy& reply);
  [[nodiscard]] const MaintenanceResult& result() const { return result_; }

 private:
  enum class Step {
    begin,
    recover,
    claims,
    reruns,
    ids,
    items,
    ids_again,
    check,
    sweep,
    leftovers,
    over
  };
  [[nodiscard]] ScriptCall step(std::vector<std::string> arguments) const;
  void begun(const redis::ReplyCopy& reply);
  void note_ids(const redis::ReplyCopy& reply);
  void note_items(const redis::ReplyCopy& reply);
  void next_leftovers();
  void after_claims();
  void after_reruns();
  void after_ids();
  void resize(std::int64_t bytes, std::size_t most);

  const FeedKeys keys_;
  const MaintenanceTerms terms_;
  MaintenanceResult result_;
  Step step_ = Step::begin;
  std::string look_;  ///< name of this pass: its start time
  bool whole_ = true;
  std::string cursor_ = "0";
  std::size_t place_ = 0;
  std::size_t page_ = 0;               ///< number of entries that the next call examines
  std::vector<std::uint64_t> queued_;  ///< sorted when complete
  std::unordered_set<std::string> not_found_;
  /// Keys to search for records of jobs that no longer exist, with their counters. The last one is
  /// current.
  std::vector<std::pair<const std::string*, std::size_t*>> leftovers_;
};

}  // namespace w8y::store::thoonk
