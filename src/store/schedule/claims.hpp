// Claims of jobs of schedules: the arguments and the reply of schedule_claim.lua.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/claimer.hpp"
#include "store/recovery.hpp"
#include "store/schedule/lease_store.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

struct ScheduleScan {
  std::vector<std::string> queues;
  std::size_t place = 0;          ///< index of the queue at which the call starts
  std::vector<std::string> tags;  ///< of the last call, one per run: 30 hex digits
};

struct ScheduledJob : ClaimedItem {
  std::string tag;
  /// Schedule at the time of the claim; nullopt if there was none, or it is too long for the reply.
  std::optional<std::string> schedule;
};

struct ScheduleClaimResult : ClaimResult {
  std::size_t place = 0;             ///< index of the queue at which the next call starts
  std::chrono::milliseconds now{0};  ///< by the Redis clock
  std::vector<ScheduledJob> taken;
};

/// Returns the call that recovers the claims of hosts that no longer exist.
ScriptCall recover_call(const ScheduleKeys& keys, const ListConfig& rule);

/// Kind of work of Claimer. Jobs do not count for the memory for long items.
struct ScheduleClaims : ClaimKind {
  using Store = ScheduleLeaseStore;
  using Scan = ScheduleScan;
  using Open = OpenClaim<Store, Scan>;
  using Result = ScheduleClaimResult;
  using Note = std::optional<std::string>;  ///< schedule at the time of the claim
  static constexpr const redis::Script* script = &scripts::schedule_claim;
  static constexpr const char* items = "jobs";
  static constexpr std::size_t most_claimed = 64;
  static constexpr std::size_t most_bytes = 0;

  static std::size_t most_held(const ListConfig&) {
    return std::numeric_limits<std::size_t>::max();
  }
  static void write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                    ClaimWords& words);
  static void read(const redis::Reply& reply, Open& open, Result& result);
  static ScriptCall undo(const RedisSession& session, const Open& open) {
    return undo_recorded(recover_call(open.store->keys(), *open.rule), session, open.runs);
  }
  static void set_lock(LeaseTerms& lease, const ScheduleKeys& keys, const RedisSession::Holder&,
                       const ScheduledJob& job) {
    lease.key = keys.working(job.item);
    lease.value = job.tag;
    lease.item = job.item;
  }
  static std::size_t bytes_of(const ScheduledJob&) { return 0; }
  static Note note(ScheduledJob& job) { return std::move(job.schedule); }
};
using ScheduleClaimer = Claimer<ScheduleClaims>;
extern template class Claimer<ScheduleClaims>;

}  // namespace w8y::store
