#include "store/thoonk/job_claims.hpp"

#include <algorithm>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "store/circular/script_locks.hpp"
#include "store/claimer_impl.hpp"

namespace w8y::store::thoonk {

namespace {

/// Number of elements in the reply before those of long jobs.
constexpr std::size_t head = 6;
/// Maximum number of IDs that one call examines.
constexpr const char* most_looked_at = "256";

}  // namespace

void JobClaims::write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                      ClaimWords& words) {
  const FeedKeys& keys = open.store->keys();
  words.texts = {session.holder.lock({}),
                 ms_text(open.rule->key_expiry),
                 std::to_string(open.rule->fleet_concurrency),
                 most_looked_at,
                 std::to_string(max_item),
                 std::to_string(ScriptLocks::most_bytes_looked_at),
                 std::to_string(item_shown + 1),  // one byte more shows that it is truncated
                 std::to_string(memory.newest_fence)};
  words.arguments = {keys.lease_prefix};
  words.arguments.insert(words.arguments.end(), words.texts.begin(), words.texts.end());
  words.arguments.insert(words.arguments.end(), open.runs.begin(), open.runs.end());
  words.keys = {keys.config,  keys.paused,    keys.fence,   keys.slots,     keys.ids,  keys.items,
                keys.claimed, keys.cancelled, keys.stalled, keys.published, keys.taken};
  if (open.rule->breaker.runs > 0) words.keys.push_back(keys.breaker);
}

void JobClaims::read(const redis::Reply& reply, const Open&, Result& result) {
  if (reply.size() < head) return;
  read_status(reply[0].text(), result);
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
    FeedJob job{{std::string(reply[i].text()), static_cast<std::uint64_t>(reply[i + 1].integer()),
                 static_cast<unsigned>(reply[i + 2].integer())},
                std::string(reply[i + 3].text())};
    const std::size_t bytes = JobClaims::bytes_of(job);
    result.longest = std::max(result.longest, bytes);
    result.bytes += bytes;
    result.taken.push_back(std::move(job));
  }
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

namespace w8y::store {
template class Claimer<thoonk::JobClaims>;
}
