// Sets the schedule of one job, for the status API.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

struct ScheduleToSet {
  std::string schedule;                   ///< as typed; see schedule::as_stored()
  std::string zone;                       ///< of cron fields or of AT:; empty: UTC
  std::chrono::milliseconds jitter = {};  ///< of a recurrence; 0 = none
};

struct ScheduleSet {
  std::string schedule;        ///< as stored
  std::vector<WallTime> next;  ///< next times at which the job is due
};

/// Sets the schedule of a job. Throws QueryError, 400, for an invalid job or schedule, and then
/// changes nothing.
ScheduleSet set_schedule(QueryContext& query, const std::string& name, const std::string& job,
                         const ScheduleToSet& wanted);
/// Removes a job. False: nothing was stored for it.
bool unset_schedule(QueryContext& query, const std::string& name, const std::string& job);

}  // namespace w8y::verbs
