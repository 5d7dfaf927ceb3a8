#include "store/circular/claims.hpp"

#include "core/number.hpp"
#include "store/claimer_impl.hpp"

namespace w8y::store {

namespace {

/// Maximum number of items in a call that continues a scan. All items before were locked, and a
/// check of a thousand more takes Redis less than 1 ms, about the fixed cost of a call.
constexpr std::size_t most_in_long_scan = 4 * ScriptLocks::most_looked_at;
/// Number of elements in the reply before those of each item.
constexpr std::size_t head = 7;
/// Maximum number of bytes of items that an undo reads.
constexpr const char* most_bytes_undone = "16777216";

/// Parses "LENGTH", "LENGTH OTHERS" or " OTHERS".
void read_place(std::string_view text, ScanResult& result) {
  const auto space = text.find(' ');
  if (const auto length = read_integer(text.substr(0, space), count_range)) result.length = *length;
  if (space == std::string_view::npos) return;
  if (const auto others = read_integer(text.substr(space + 1), count_range))
    result.others = static_cast<std::size_t>(*others);
}

}  // namespace

void CircularClaims::write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                           ClaimWords& words) {
  const CircularKeys& keys = open.store->keys();
  const CircularScan& scan = open.scan;
  words.texts = {session.holder.lock({}),
                 ms_text(open.rule->key_expiry),
                 std::to_string(open.rule->fleet_concurrency),
                 std::to_string(scan.left) + scan.near,
                 std::to_string(scan.left >= 0 ? most_in_long_scan : ScriptLocks::most_looked_at),
                 std::to_string(scan.overdue ? -1 : static_cast<std::int64_t>(scan.held)),
                 std::to_string(ScriptLocks::most_bytes_looked_at),
                 std::to_string(ScriptLocks::at_once(memory.longest)),
                 std::to_string(max_item),
                 std::to_string(item_shown + 1),  // one byte more shows that it is truncated
                 std::to_string(memory.newest_fence)};
  const auto& texts = words.texts;
  words.arguments = {keys.lock_prefix,
                     texts[0],
                     texts[1],
                     texts[2],
                     texts[3],
                     texts[4],
                     session.circular.locks.proven() ? "0" : "1",
                     texts[5],
                     keys.wake,
                     scan.hears ? "1" : "0",
                     texts[6],
                     texts[7],
                     texts[8],
                     texts[9],
                     session.circular.parked_note,
                     texts[10],
                     keys.other_lock_prefix};
  words.arguments.insert(words.arguments.end(), open.runs.begin(), open.runs.end());
  words.keys = {keys.list,   keys.fence,       keys.failures, keys.slots,
                keys.paused, keys.quarantined, keys.waiting,  keys.samples};
  if (open.rule->breaker.runs > 0 && !open.runs.empty()) words.keys.push_back(keys.breaker);
}

void CircularClaims::read(const redis::Reply& reply, const Open&, Result& result) {
  const std::string_view status = reply[0].text();
  read_status(status, result);
  result.left = reply[1].integer();
  result.next_free = read_ms(reply[2].integer());
  if (result.end == ClaimEnd::paused || result.end == ClaimEnd::breaker) {
    result.detail = shown_part(reply[3].text());
  } else if (status == "ok") {
    result.refused = reply[3].text();
  } else {
    read_place(reply[3].text(), result);
  }
  result.longest = static_cast<std::size_t>(reply[4].integer());
  result.bytes = static_cast<std::size_t>(reply[5].integer());
  std::size_t i = head;
  for (auto parked = reply[6].integer(); parked > 0; --parked, i += 2)
    result.parked.push_back(
        {DisplayItem(reply[i].text(), static_cast<std::size_t>(reply[i + 1].integer())),
         too_long_text()});
  for (; i + 2 < reply.size(); i += 3)
    result.taken.push_back({std::string(reply[i].text()),
                            static_cast<std::uint64_t>(reply[i + 1].integer()),
                            static_cast<unsigned>(reply[i + 2].integer())});
}

ScriptCall CircularClaims::undo(const RedisSession& session, const Open& open) {
  const CircularKeys& keys = open.store->keys();
  ScriptCall call{&scripts::undo_claim,
                  {keys.list, keys.slots},
                  {keys.lock_prefix, session.holder.lock({}), InDoubtClaims::most_examined,
                   most_bytes_undone, keys.wake}};
  for (const RunId& run : open.runs) call.arguments.emplace_back(run);
  return call;
}

template class Claimer<CircularClaims>;

}  // namespace w8y::store
