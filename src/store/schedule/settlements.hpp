// Settlements of schedules.
#pragma once

#include <cstddef>
#include <string>

#include "store/schedule/end_call.hpp"
#include "store/schedule/keys.hpp"
#include "store/settlements.hpp"

namespace w8y::store {

/// Kind of work of Settlements. The program decides the disposition of a job, since recurrence
/// rules need libical. Redis executes it if the schedule and the time that it is based on still
/// hold. Otherwise the reply has the current values, and the program decides again.
struct ScheduleEnds {
  using Keys = ScheduleKeys;
  using Call = EndCall;
  using Words = EndWords;
  /// schedule_settle.lua settles one run.
  static constexpr std::size_t most_settled = 1;
  static const redis::Script& script();

  static std::size_t bytes_of(const Call& call) {
    return 2 * call.job.size() + call.tag.size() + call.decided_by.size() + call.schedule.size();
  }
  static bool goes_alone(const Call&) { return true; }
  static const std::string& list_of(const Keys& keys) { return keys.timeline; }
  /// Decides again if Redis changed nothing because the schedule has changed.
  static SettleResult read(RedisSession& session, const redis::Answer& answer, Call& call);
};
using ScheduleSettlements = Settlements<ScheduleEnds>;
extern template class Settlements<ScheduleEnds>;

}  // namespace w8y::store
