// Reply to one call of a claim script, as far as all kinds of work have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "redis/command.hpp"
#include "store/work_queue.hpp"

namespace w8y::store {

/// Keys and arguments of a claim script. They may point into `texts`, which must not grow once they
/// do, and into the open claim.
struct ClaimWords {
  std::vector<std::string> texts;
  redis::Command keys;
  redis::Command arguments;
};

struct ClaimedItem {
  Item item;
  std::uint64_t fence = 0;
  unsigned failures = 0;  ///< consecutive failures
};

/// A Result of Claimer also has `taken`, a vector of types derived from ClaimedItem: taken[i] is
/// claimed for the i-th run of the call.
struct ClaimResult {
  ClaimEnd end = ClaimEnd::more;
  bool more = false;  ///< the call did not examine all items: if it claimed none, another follows
  std::optional<Duration> next_free;
  std::string detail;
  std::string refused;  ///< write error of a key other than the locks
  std::vector<ClaimReply::Parked> parked;
  std::size_t longest = 0;  ///< bytes of the longest item that was read
  std::size_t bytes = 0;    ///< bytes of all items that were read
};

/// Sets the end of a call from the first element of its reply.
void read_status(std::string_view status, ClaimResult& result);

}  // namespace w8y::store
