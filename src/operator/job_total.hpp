// Number of the jobs of a list.
#pragma once

#include <cstddef>

#include "operator/key_names.hpp"
#include "redis/sync.hpp"

namespace w8y::verbs {

/// Returns the number of jobs of a schedule with a status. If other lists have its key prefix,
/// reads the names of at most 20,000 jobs; with more jobs, the number is an estimate from these.
std::size_t number_of_jobs(redis::SyncClient& client, const ScheduleOfList& schedule);

}  // namespace w8y::verbs
