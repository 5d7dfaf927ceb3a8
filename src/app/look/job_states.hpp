// What the jobs of a schedule are doing, as their keys say (w8y-keys(7)).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "ops/status_json.hpp"
#include "redis/sync.hpp"
#include "store/schedule/changes.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::app::look {

inline constexpr std::array job_states{"running", "queued", "waiting", "stopped",
                                       "bad",     "died",   "nowhere"};

struct JobState {
  store::Job job;
  /// "running"; "queued"; "waiting": on the timeline; "stopped", "bad", "died": its status says so;
  /// "nowhere": whatever its status says, nobody has it.
  const char* state = "nowhere";
  std::optional<std::string> status;      ///< as it is written
  std::optional<WallTime> since;          ///< running: when it was taken; else since the status
  std::optional<store::UnixSeconds> due;  ///< on the timeline; also of one that is queued or runs
  std::string queue;                      ///< the code
  std::size_t place = 0;                  ///< queued: 1 is taken next; 0: not queued
  std::optional<std::chrono::milliseconds> left;  ///< running: of its lease, if that has an end
  // Running, if one of ours has it.
  std::string host;
  std::string pid;
  std::string run;
  std::string tag;            ///< of another's
  bool taken = false;         ///< by one of ours, as it has noted
  bool member = false;        ///< of what is in its queue
  std::int64_t failures = 0;  ///< in a row
  std::string why;            ///< bad: what is wrong with the schedule; nowhere: what that means
};

ops::Json to_json(const JobState& job);

struct Jobs {
  std::vector<JobState> jobs;  ///< each once: those that run, that are queued, that wait, the rest
  bool whole = true;           ///< all were looked at
  std::map<std::string, std::size_t> states;  ///< of how many jobs that were looked at
  std::size_t known = 0;                      ///< those that have a status
};

/// Those in a state (empty: in any), until there are `most` (0: all). `codes`: queues that are
/// known of; others are found with their jobs. What is said of a job is of one moment, but not of
/// all jobs the same. Throws redis::RedisError.
Jobs read_jobs(redis::SyncClient& client, const store::ScheduleKeys& keys,
               const std::vector<std::string>& codes, const std::string& state = {},
               std::size_t most = 0);

/// These, each once and in their order; without their places in queues.
std::vector<JobState> read_jobs_named(redis::SyncClient& client, const store::ScheduleKeys& keys,
                                      const std::vector<store::Job>& jobs);

/// One of them; nullopt: there is nothing of it.
std::optional<JobState> read_job(redis::SyncClient& client, const store::ScheduleKeys& keys,
                                 const store::Job& job);

}  // namespace w8y::app::look
