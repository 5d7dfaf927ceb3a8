// Makes a job of a schedule or a feed run as soon as possible.
#pragma once

#include <string>

#include "operator/feed_access.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

struct RunJobResult {
  enum class Result { done, refused, not_found };
  Result result = Result::done;
  std::string text;  ///< one line: the effect, or the reason and the remedy
};

/// Enqueues the job, as if it were due. Throws redis::RedisError.
RunJobResult run_schedule_job(const QueryContext& query, const std::string& list,
                              const std::string& job);
/// Makes a queued job the next to be claimed. Throws redis::RedisError.
RunJobResult run_feed_job(const FeedServer& at, const std::string& feed, const std::string& id);

}  // namespace w8y::verbs
