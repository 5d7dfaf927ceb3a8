// Numbers of runs per minute, for the fleet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/runs_per_minute.hpp"
#include "store/fleet/membership.hpp"
#include "view/fleet.hpp"

namespace w8y::app {

/// Texts with the numbers of runs, one for each minute with runs since it was sent: for all lists
/// together, and for as many of the lists with the most runs as fit.
class RunCountsPublisher {
 public:
  using Minutes = std::vector<store::FleetMembership::Handler::Minute>;

  RunCountsPublisher(const Clock& clock, const RunsPerMinute& hour) : clock_(clock), hour_(hour) {}

  /// Returns the changed minutes and treats them as sent. Minutes are by the clock of Redis.
  Minutes drain(const RedisClock& time);
  /// Forgets what was sent, so that all minutes are sent again.
  void forget() { published_.clear(); }

 private:
  [[nodiscard]] std::string text_of(const MinuteCount& total, std::int64_t minute) const;

  const Clock& clock_;
  const RunsPerMinute& hour_;
  std::vector<MinuteCount> published_;
};

}  // namespace w8y::app
