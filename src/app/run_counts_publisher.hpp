// What this host tells its fleet of its runs, by the minute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/runs_per_minute.hpp"
#include "store/fleet/membership.hpp"
#include "view/fleet.hpp"

namespace w8y::app {

/// A text for each minute that has had a run since it was told: of all lists, and of those with the
/// most runs, as many as have room.
class RunCountsPublisher {
 public:
  using Minutes = std::vector<store::FleetMembership::Handler::Minute>;

  RunCountsPublisher(const Clock& clock, const RunsPerMinute& hour) : clock_(clock), hour_(hour) {}

  /// What has changed; all of it counts as told. Minutes are by Redis's clock.
  Minutes take(const RedisClock& time);
  /// All is to be told again.
  void forget() { told_.clear(); }

 private:
  [[nodiscard]] std::string text_of(const MinuteCount& total, std::int64_t minute) const;

  const Clock& clock_;
  const RunsPerMinute& hour_;
  std::vector<MinuteCount> told_;
};

}  // namespace w8y::app
