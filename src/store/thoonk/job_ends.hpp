// Settlements of jobs of feeds: the arguments of job_settle.lua.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/item.hpp"
#include "core/list_config.hpp"
#include "store/settlements.hpp"
#include "store/thoonk/job_queue.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::store::thoonk {

struct EndCall {
  std::string id;      ///< of the job
  std::string holder;  ///< "run:<host>:<pid>:"; with the run ID it is the value of the lease
  RunId run;
  const char* effect = "back";
  Duration hold{0};    ///< "hold": duration; "stall": if the breaker prevents the stall
  std::string result;  ///< "finish": the result
  bool again = false;  ///< whether it may have been executed before
  bool stale = false;  ///< the lease had ended when this was sent; the script compares the claim
  HistoryLimits history = HistoryLimits::none();
  std::string event;  ///< JSON; empty = none
  std::string more;   ///< further members of the run record, see history_members()
  std::string kept;   ///< kept_record() if the run stalls the job; else empty
  std::uint32_t max_result = 1U << 20U;  ///< bytes of a kept result
  std::string breaker_limits;            ///< breaker_limits(); empty = no breaker
  std::string breaker;  ///< breaker_entry(), or "?" for a stall by a run that has no entry
  /// Called when Redis has confirmed that the run has stalled its job, if the breaker could prevent
  /// that.
  std::function<void()> on_quarantined;
};

/// Kind of work of Settlements.
struct JobEnds {
  using Keys = FeedKeys;
  using Call = EndCall;
  using Words = SettlementWords<JobEnds>;
  static constexpr std::size_t most_settled = 32;
  static constexpr std::size_t max_texts = 3;
  static const redis::Script& script();

  static std::size_t bytes_of(const Call& call) {
    return 2 * call.id.size() + call.holder.size() + call.result.size();
  }
  static bool goes_alone(const Call& call) { return call.on_quarantined != nullptr; }
  static const std::string& list_of(const Keys& keys) { return keys.feed; }
  static SettleResult read(RedisSession& session, const redis::Answer& answer, const Call& call);

  static redis::Command keys_of(const Keys& keys, const std::vector<const Call*>& calls);
  static redis::Command first_words(const Keys& keys);
  static bool same_group(const Call& a, const Call& b);
  static std::array<std::string_view, 8> group_words(const Call& call, const KeepText& keep);
  static std::array<std::string_view, 6> own_words(const Call& call, std::string_view group);
};

}  // namespace w8y::store::thoonk

namespace w8y::store {
extern template class Settlements<thoonk::JobEnds>;
}
