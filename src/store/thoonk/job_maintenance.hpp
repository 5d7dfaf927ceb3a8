// The maintenance of a feed of jobs, step by step, for whoever carries out its calls.
//
// It takes claims back whose lease is over, and those that never had one when their time is over.
// It puts ids back that are nowhere, though their jobs are there: in none of queue, claims and
// stalled jobs, twice in turn. For that the queue is read a page at a time and each id is noted as
// 64 bits; then the jobs are gone through; what was not in the queue is looked for there once more,
// since jobs move; and what is still not found is checked by Redis in one step.
// What is noted of jobs that are gone is removed.
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
#include "store/recovery.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::store::thoonk {

struct MaintenanceTerms {
  std::string who;
  unsigned max_failures = 0;  ///< 0: never stalled
  HistoryLimits history = HistoryLimits::none();
  Duration claim_timeout{0};  ///< 0: never
  Duration interval{0};       ///< for so long nobody else looks
  bool always = false;        ///< also if somebody else does, and the whole of it
};
MaintenanceTerms maintenance_terms(const ListConfig& rule, std::string who);

struct MaintenanceResult {
  std::size_t taken_back = 0;
  std::size_t put_back = 0;
  std::size_t nowhere = 0;  ///< put back by the next look, if they still are nowhere
  // Removed, since their jobs are gone:
  std::size_t claimed = 0;
  std::size_t stalled = 0;
  std::size_t cancelled = 0;
  std::size_t published = 0;
  std::string other;             ///< who looks; empty: it was us
  std::optional<Duration> next;  ///< when somebody else may
};

class JobMaintenance {
 public:
  JobMaintenance(const FeedKeys& keys, MaintenanceTerms terms);
  JobMaintenance(const JobMaintenance&) = delete;
  JobMaintenance& operator=(const JobMaintenance&) = delete;

  /// What to call next; nullopt: it is over.
  [[nodiscard]] std::optional<RecoverCall> next() const;
  /// The answer to that. Not an error: it ends there, and is begun again another time.
  void answered(const redis::ReplyCopy& reply);
  [[nodiscard]] const MaintenanceResult& result() const { return result_; }

 private:
  enum class Step { begin, recover, claims, ids, items, ids_again, check, sweep, leftovers, over };
  [[nodiscard]] RecoverCall step(std::vector<std::string> arguments) const;
  void begun(const redis::ReplyCopy& reply);
  void note_ids(const redis::ReplyCopy& reply);
  void note_items(const redis::ReplyCopy& reply);
  void next_leftovers();
  void after_claims();
  void after_ids();
  void resize(std::int64_t bytes, std::size_t most);

  const FeedKeys keys_;
  const MaintenanceTerms terms_;
  MaintenanceResult result_;
  Step step_ = Step::begin;
  std::string look_;  ///< names this look: when it began
  bool whole_ = true;
  std::string cursor_ = "0";
  std::size_t place_ = 0;
  std::size_t page_ = 0;               ///< how many the next call looks at
  std::vector<std::uint64_t> queued_;  ///< sorted when all are there
  std::unordered_set<std::string> not_found_;
  /// What is looked through for jobs that are gone, and where they are counted; the last one now.
  std::vector<std::pair<const std::string*, std::size_t*>> leftovers_;
};

}  // namespace w8y::store::thoonk
