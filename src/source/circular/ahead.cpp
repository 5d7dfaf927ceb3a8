// How many items are worth claiming before there is a place for them, so that no place stands empty
// while Redis works on the next claim.
#include <algorithm>

#include "source/circular/source.hpp"

namespace w8y::source {

namespace {

/// Runs shorter than this on average are claimed ahead: for longer ones the round trip of a claim
/// is nothing, and an item should wait where any host can take it. Where many at once keep Redis
/// busy, a claim takes longer, and those that are not much longer than it are worth it too.
constexpr Duration worth_it = std::chrono::milliseconds(10);
/// As much work as may wait here.
constexpr Duration span = std::chrono::milliseconds(20);
/// As many as there are places; few places have more, and none holds more than a claim or a few.
constexpr std::size_t least_most = 64;
constexpr std::size_t most_of_all = 1024;

}  // namespace

std::size_t CircularSource::claims_ahead(const RunRate& pace) const {
  if (rule_->fleet_concurrency > 0) return 0;
  if (pace.mean_run >= std::clamp(pace.claim_took * 4, worth_it, worth_it * 4)) return 0;
  const auto mean = std::max<Duration::rep>(pace.mean_run.count(), 1);
  const auto per_place = static_cast<std::size_t>(span.count() / mean);
  // One for each place, so that none stands empty while Redis works on the next claim.
  const std::size_t most = std::clamp(pace.places, least_most, most_of_all);
  return std::min(most, std::max<std::size_t>(per_place, 1) * pace.places);
}

}  // namespace w8y::source
