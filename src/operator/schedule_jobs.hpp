// Jobs of a schedule and their states, as its keys show them (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/key_names.hpp"
#include "operator/schedule_changes.hpp"
#include "redis/sync.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

struct JobState : view::ItemView {
  bool taken = false;   ///< w8yd has recorded that it claimed the job
  bool member = false;  ///< whether the job is in the set of queued jobs
};

/// Reads the jobs in a state (empty: any), at most `most` of them (0: all). `codes`: known queues;
/// other queues are found by their jobs. The data of each job is from one moment, which may differ
/// between jobs. `length`: number of jobs that have a status. Throws redis::RedisError.
view::ItemList read_jobs(redis::SyncClient& client, const ScheduleOfList& schedule,
                         const std::vector<std::string>& codes, const std::string& state = {},
                         std::size_t most = 0);

/// Reads these jobs, each once and in this order, without their positions in queues.
std::vector<JobState> read_jobs_named(redis::SyncClient& client, const ScheduleOfList& schedule,
                                      const std::vector<Job>& jobs);

/// Reads one job with its position; nullopt: the schedule does not have it.
std::optional<view::ItemView> read_job(redis::SyncClient& client, const ScheduleOfList& schedule,
                                       const Job& job);

}  // namespace w8y::verbs
