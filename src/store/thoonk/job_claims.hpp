// Claims of jobs of feeds: the arguments and the reply of job_claim.lua.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/claimer.hpp"
#include "store/recovery.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/job_lease_store.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::store::thoonk {

struct FeedJob : ClaimedItem {
  std::string payload;
};

struct JobClaimResult : ClaimResult {
  std::vector<FeedJob> taken;
};

/// Returns the error of job_claim.lua and other scripts for a feed of another kind, as a sentence.
/// `setting`: names the feed; `kind`: the kind that it needs.
std::string why_refused(const std::string& error, const std::string& feed,
                        const char* setting = "source = \"job\"", const char* kind = "job");

/// Kind of work of Claimer.
struct JobClaims : ClaimKind {
  using Store = JobLeaseStore;
  struct Scan {};
  using Open = OpenClaim<Store, Scan>;
  using Result = JobClaimResult;
  static constexpr const redis::Script* script = &scripts::job_claim;
  static constexpr const char* items = "jobs";
  static constexpr std::size_t most_claimed = 128;
  static constexpr std::size_t most_bytes = 2 * max_item;  ///< with the payload
  /// Time after which a renewal confirms that a job is running. If its host dies after that, a
  /// failure is counted.
  static constexpr Duration confirm_after = std::chrono::milliseconds(100);

  /// One job is always admitted.
  static std::size_t most_held(const ListConfig&) { return std::size_t{64} << 20; }
  static void write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                    ClaimWords& words);
  static void read(const redis::Reply& reply, const Open& open, Result& result);
  static ScriptCall undo(const RedisSession& session, const Open& open) {
    return undo_recorded(recover_call(open.store->keys(), *open.rule), session, open.runs);
  }
  static void set_lock(LeaseTerms& lease, const FeedKeys& keys, const RedisSession::Holder& holder,
                       const FeedJob& job) {
    lease.key = keys.lease(job.item);
    lease.value = holder.lock(lease.run);
    lease.confirm = confirm_after;
    lease.item = job.item;
  }
  static std::size_t bytes_of(const FeedJob& job) { return job.item.size() + job.payload.size(); }
  static Call call(FeedJob& job) { return {std::nullopt, job.item, std::move(job.payload)}; }
  static std::string reason(const std::string& error, const ListConfig& rule) {
    return why_refused(error, rule.prefix);
  }
};

}  // namespace w8y::store::thoonk

namespace w8y::store {
extern template class Claimer<thoonk::JobClaims>;
}
