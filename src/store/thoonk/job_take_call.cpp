#include "store/thoonk/job_take_call.hpp"

#include <algorithm>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "store/circular/script_locks.hpp"
#include "store/store_error.hpp"

namespace w8y::store::thoonk {

namespace {

/// Number of elements in the reply before those of long jobs.
constexpr std::size_t head = 6;
/// Maximum number of IDs that one call examines.
constexpr const char* most_looked_at = "256";

ClaimEnd end_of(std::string_view status) {
  if (status == "empty") return ClaimEnd::empty;
  if (status == "paused") return ClaimEnd::paused;
  if (status == "full") return ClaimEnd::fleet_full;
  if (status == "breaker") return ClaimEnd::breaker;
  return ClaimEnd::more;
}

}  // namespace

TakeWords::TakeWords(const TakeCall& call)
    : numbers_{ms_text(call.life),
               std::to_string(call.fleet_limit),
               most_looked_at,
               std::to_string(max_item),
               std::to_string(ScriptLocks::most_bytes_looked_at),
               std::to_string(item_shown + 1),  // one byte more shows that it is truncated
               std::to_string(call.newest_fence)},
      keys_{call.keys.config,  call.keys.paused,    call.keys.fence,   call.keys.slots,
            call.keys.ids,     call.keys.items,     call.keys.claimed, call.keys.cancelled,
            call.keys.stalled, call.keys.published, call.keys.taken},
      arguments_{call.keys.lease_prefix, call.holder} {
  if (call.has_breaker) keys_.push_back(call.keys.breaker);
  arguments_.insert(arguments_.end(), numbers_.begin(), numbers_.end());
  arguments_.insert(arguments_.end(), call.runs.begin(), call.runs.end());
}

TakeResult read_take(const redis::Reply& reply) {
  TakeResult result;
  if (reply.size() < head) return result;
  result.end = end_of(reply[0].text());
  result.next_free = read_ms(reply[2].integer());
  result.detail = shown_part(reply[3].text());
  result.refused = reply[4].text();
  std::size_t i = head;
  for (auto count = reply[5].integer(); count > 0; --count, i += 3) {
    const auto length = static_cast<std::size_t>(reply[i + 1].integer());
    const bool payload = static_cast<std::size_t>(reply[i + 2].integer()) > max_item;
    result.parked.push_back({DisplayItem(reply[i].text(), length),
                             payload ? "its payload is " + too_long_text() : too_long_text()});
  }
  for (; i + 3 < reply.size(); i += 4) {
    TakenJob job{std::string(reply[i].text()), static_cast<std::uint64_t>(reply[i + 1].integer()),
                 static_cast<unsigned>(reply[i + 2].integer()), std::string(reply[i + 3].text())};
    const std::size_t bytes = job.id.size() + job.payload.size();
    result.longest = std::max(result.longest, bytes);
    result.bytes += bytes;
    result.taken.push_back(std::move(job));
  }
  result.again = reply[0].text() == "more" && result.taken.empty();
  return result;
}

std::string why_refused(const std::string& error, const std::string& feed, const char* setting,
                        const char* kind) {
  constexpr std::string_view wrong_kind = "WRONGKIND ";
  if (!error.starts_with(wrong_kind)) return error;
  std::string found = error.substr(wrong_kind.size());
  found = found.substr(0, found.find(" script: "));
  return "the feed " + escape_text(feed) + " is of the kind " + escape_text(found) + ", but " +
         setting + " needs a feed of the kind " + kind;
}

}  // namespace w8y::store::thoonk
