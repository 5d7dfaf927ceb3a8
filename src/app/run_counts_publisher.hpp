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
class FleetHour {
 public:
  using Minutes = std::vector<store::FleetMember::Handler::Minute>;

  FleetHour(const Clock& clock, const Hour& hour) : clock_(clock), hour_(hour) {}

  /// What has changed; all of it counts as told. Minutes are by Redis's clock.
  Minutes take(const RedisTime& time);
  /// All is to be told again.
  void forget() { told_.clear(); }

 private:
  [[nodiscard]] std::string text_of(const MinuteFigures& total, std::int64_t minute) const;

  const Clock& clock_;
  const Hour& hour_;
  std::vector<MinuteFigures> told_;
};

}  // namespace w8y::app
