// What the jobs of a schedule are doing, as their keys say (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/schedule_changes.hpp"
#include "redis/sync.hpp"
#include "store/schedule/keys.hpp"
#include "view/item_view.hpp"

namespace w8y::verbs {

struct JobState : view::ItemView {
  bool taken = false;   ///< w8yd has noted that it claimed the job
  bool member = false;  ///< of the set of jobs in its queue
};

/// Those in a state (empty: in any), until there are `most` (0: all). `codes`: queues that are
/// known of; others are found with their jobs. What is said of a job is of one moment, but not of
/// all jobs the same. `length`: number of jobs that have a status. Throws redis::RedisError.
view::ItemList read_jobs(redis::SyncClient& client, const store::ScheduleKeys& keys,
                         const std::vector<std::string>& codes, const std::string& state = {},
                         std::size_t most = 0);

/// These, each once and in their order; without their places in queues.
std::vector<JobState> read_jobs_named(redis::SyncClient& client, const store::ScheduleKeys& keys,
                                      const std::vector<Job>& jobs);

/// Returns one job with its place; nullopt: the schedule does not have it.
std::optional<view::ItemView> read_job(redis::SyncClient& client, const store::ScheduleKeys& keys,
                                       const Job& job);

}  // namespace w8y::verbs
