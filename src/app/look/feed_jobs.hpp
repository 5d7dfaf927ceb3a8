// What the jobs of a feed are doing, as its keys say (w8y-keys(7)).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "ops/status_json.hpp"
#include "redis/sync.hpp"

namespace w8y::app::look {

inline constexpr std::array feed_job_states{"running", "resting", "claimed",
                                            "waiting", "stalled", "nowhere"};

struct FeedJob {
  std::string id;
  const char* state = "nowhere";
  std::optional<WallTime> since;  ///< claimed
  std::optional<WallTime> until;  ///< resting
  std::size_t place = 0;          ///< waiting: 1 is taken next
  std::int64_t failures = 0;
  std::string run;  ///< of our claim: "run:<host>:<pid>:<run id>"
  bool stalls = false;
};

ops::Json to_json(const FeedJob& job);

/// All jobs, those that are claimed first, then those that wait, the next one first. Throws
/// redis::RedisError.
std::vector<FeedJob> read_feed_jobs(redis::SyncClient& client, bool cluster,
                                    const std::string& feed);

/// These, in their order; nullopt: the feed has none of this id. Who is in no other place is taken
/// to wait, without its place in the queue.
std::vector<std::optional<FeedJob>> read_feed_jobs_named(redis::SyncClient& client,
                                                         const std::string& feed,
                                                         const std::vector<std::string>& ids);

}  // namespace w8y::app::look
