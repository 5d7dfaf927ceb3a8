// The words of job_take.lua.
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
  std::uint64_t newest_fence = 0;  ///< the largest that we have seen of the list
  const std::vector<RunId>& runs;  ///< one for each job that is wanted

  /// Jobs that one call takes, so that Redis is never held for long.
  static constexpr std::size_t most_taken = 128;
};

class TakeWords {
 public:
  explicit TakeWords(const TakeCall& call);
  explicit TakeWords(TakeCall&&) = delete;  // the words are views of it
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
  bool again = false;  ///< nothing was found yet, and there may be more
  std::optional<Duration> next_free;
  std::string detail;
  std::string refused;  ///< by Redis, of what is noted beside the jobs
  std::vector<TakeReply::Parked> parked;
  std::vector<TakenJob> taken;  ///< taken[i] has the i-th run
  std::size_t longest = 0;      ///< of them, with its payload
  std::size_t bytes = 0;        ///< of all of them
};
TakeResult read_take(const redis::Reply& reply);

/// What job_take.lua and others answer where the feed is of another kind, as a sentence.
std::string why_refused(const std::string& error, const std::string& feed);

}  // namespace w8y::store::thoonk
