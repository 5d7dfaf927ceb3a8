#include "source/prefetch.hpp"

#include <algorithm>

namespace w8y::source {

namespace {

/// Mean duration below which runs are prefetched. For longer runs, the round trip of a claim is
/// negligible, and an item should stay available to all hosts. If Redis is busy and claims take
/// longer, the limit is four claims, up to 40 ms.
constexpr Duration worth_it = std::chrono::milliseconds(10);
/// Amount of work per slot that may wait on this host.
constexpr Duration span = std::chrono::milliseconds(20);
/// Bounds of the maximum number of prefetched items. Between them, it is the number of slots.
constexpr std::size_t least_most = 64;
constexpr std::size_t most_of_all = 1024;

}  // namespace

std::size_t prefetch(const RunRate& rate) {
  if (rate.mean_run >= std::clamp(rate.claim_took * 4, worth_it, worth_it * 4)) return 0;
  const auto mean = std::max<Duration::rep>(rate.mean_run.count(), 1);
  const auto per_place = static_cast<std::size_t>(span.count() / mean);
  // At least one for each slot, so that no slot is unused while Redis executes the next claim.
  const std::size_t most = std::clamp(rate.places, least_most, most_of_all);
  return std::min(most, std::max<std::size_t>(per_place, 1) * rate.places);
}

}  // namespace w8y::source
