// What becomes of a job: what its schedule says, at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/schedule/effects.hpp"

namespace w8y::source {

struct Decision {
  std::string schedule;  ///< from now on
  store::SetEffect effect;
  std::string why_bad;  ///< BadJob: for people
};

/// Of a job that is set to this schedule. `after`: a rule's next time is the first behind that.
Decision decide(std::string_view schedule, store::UnixSeconds now,
                std::optional<store::UnixSeconds> after = std::nullopt);

/// Of a job whose run has ended; as store::DecideNextStep.
store::ScheduleDecision decide_next(const std::optional<std::string>& schedule,
                                    store::UnixSeconds now,
                                    std::optional<std::chrono::seconds> backoff);

}  // namespace w8y::source
