// Decisions about a job by its schedule, at a given time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/schedule/effects.hpp"

namespace w8y::source {

struct Decision {
  std::string schedule;  ///< the new schedule
  store::SetEffect effect;
  std::string why_bad;  ///< BadJob: the reason for operators
};

/// Decides about a job that gets this schedule. With a recurrence rule, the next run is the first
/// one after `after`; nullopt = after `now`.
Decision decide(std::string_view schedule, store::UnixSeconds now,
                std::optional<store::UnixSeconds> after = std::nullopt);

/// Decides about a job whose run has ended; see store::DecideNextStep.
store::ScheduleDecision decide_next(const std::optional<std::string>& schedule,
                                    store::UnixSeconds now,
                                    std::optional<std::chrono::seconds> backoff);

}  // namespace w8y::source
