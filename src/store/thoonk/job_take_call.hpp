// Keys, arguments and reply of job_claim.lua.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "redis/command.hpp"
#include "redis/reply.hpp"
#include "store/thoonk/keys.hpp"
#include "store/work_queue.hpp"

namespace w8y::store::thoonk {

struct TakeCall {
  const FeedKeys& keys;
  std::string holder;  ///< "run:<host>:<pid>:"
  Duration life{0};
  unsigned fleet_limit = 0;
  std::uint64_t newest_fence = 0;  ///< the largest fencing token that this host has seen of the
                                   ///< list
  const std::vector<RunId>& runs;  ///< one for each wanted job
  bool has_breaker = false;

  /// Maximum number of jobs that one call claims, so that Redis is not blocked for long.
  static constexpr std::size_t most_taken = 128;
};

class TakeWords {
 public:
  explicit TakeWords(const TakeCall& call);
  explicit TakeWords(TakeCall&&) = delete;  // keys and arguments are views of the call
  TakeWords(const TakeWords&) = delete;
  TakeWords& operator=(const TakeWords&) = delete;
  [[nodiscard]] const redis::Command& keys() const { return keys_; }
  [[nodiscard]] const redis::Command& arguments() const { return arguments_; }

 private:
  std::vector<std::string> numbers_;
  redis::Command keys_;
  redis::Command arguments_;
};

struct TakenJob {
  std::string id;
  std::uint64_t fence = 0;
  unsigned cancels = 0;
  std::string payload;
};

struct TakeResult {
  ClaimEnd end = ClaimEnd::more;
  bool again = false;  ///< no job was found yet, and there may be more
  std::optional<Duration> next_free;
  std::string detail;
  std::string refused;  ///< write error of a key other than the jobs
  std::vector<TakeReply::Parked> parked;
  std::vector<TakenJob> taken;  ///< taken[i] has the i-th run
  std::size_t longest = 0;      ///< longest job, with its payload
  std::size_t bytes = 0;        ///< bytes of all jobs
};
TakeResult read_take(const redis::Reply& reply);

/// Returns the error of job_claim.lua and other scripts for a feed of another kind, as a sentence.
/// `setting`: names the feed; `kind`: the kind that it needs.
std::string why_refused(const std::string& error, const std::string& feed,
                        const char* setting = "source = \"job\"", const char* kind = "job");

}  // namespace w8y::store::thoonk
