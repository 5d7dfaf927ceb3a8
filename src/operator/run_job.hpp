// Has a job of a schedule or a feed taken as soon as can be.
#pragma once

#include <string>

#include "redis/sync.hpp"

namespace w8y::verbs {

struct RunJobResult {
  enum class Result { done, refused, not_found };
  Result result = Result::done;
  std::string text;  ///< one line: what was done, or why not and what to do
};

/// It enters its queue, as if it were due. Throws redis::RedisError.
RunJobResult run_schedule_job(redis::SyncClient& client, const std::string& list,
                              const std::string& job);
/// One that waits is the next to be claimed. The same.
RunJobResult run_feed_job(redis::SyncClient& client, bool cluster, const std::string& feed,
                          const std::string& id);

}  // namespace w8y::verbs
