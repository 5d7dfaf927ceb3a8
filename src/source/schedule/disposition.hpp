// Disposition of a scheduled job after its run.
#pragma once

#include "core/ended_run.hpp"
#include "store/schedule/effects.hpp"

namespace w8y::source {

struct ScheduleDisposition {
  store::JobEnd what;
  store::FailureCount failures = store::FailureCount::keep;
};
ScheduleDisposition dispose_of_scheduled(const EndedRun& run);

}  // namespace w8y::source
