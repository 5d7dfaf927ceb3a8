#include "store/schedule/claims.hpp"

#include "core/number.hpp"
#include "store/circular/script_locks.hpp"
#include "store/claimer_impl.hpp"
#include "store/run_record.hpp"

namespace w8y::store {

namespace {

/// Number of elements in the reply before those of long jobs.
constexpr std::size_t head = 7;

}  // namespace

ScriptCall recover_call(const ScheduleKeys& keys, const ListConfig& rule) {
  return {&scripts::schedule_recover,
          {keys.taken, keys.statuses, keys.slots, keys.timeline, keys.runs},
          {keys.work_prefix, keys.wake, to_text(history_of(rule, false)),
           std::to_string(item_shown), keys.list}};
}

void ScheduleClaims::write(const RedisSession& session, const Open& open, const ClaimMemory& memory,
                           ClaimWords& words) {
  const ScheduleKeys& keys = open.store->keys();
  words.texts = {session.holder.lock({}),
                 ms_text(open.rule->key_expiry),
                 std::to_string(open.rule->fleet_concurrency),
                 std::to_string(open.scan.place),
                 std::to_string(max_item),
                 std::to_string(ScriptLocks::most_bytes_looked_at),
                 std::to_string(item_shown + 1),  // one byte more shows that it is truncated
                 std::to_string(memory.newest_fence),
                 std::to_string(open.scan.queues.size())};
  words.arguments = {keys.work_prefix};
  words.arguments.insert(words.arguments.end(), words.texts.begin(), words.texts.end() - 1);
  words.arguments.insert(words.arguments.end(), {keys.list, words.texts.back()});
  words.arguments.insert(words.arguments.end(), open.scan.queues.begin(), open.scan.queues.end());
  for (std::size_t i = 0; i < open.runs.size(); ++i)
    words.arguments.insert(words.arguments.end(), {open.runs[i], open.scan.tags[i]});
  words.keys = {keys.control,  keys.paused, keys.fence,     keys.failures, keys.slots,
                keys.statuses, keys.taken,  keys.schedules, keys.halted};
  if (open.rule->breaker.runs > 0) words.keys.push_back(keys.breaker);
}

void ScheduleClaims::read(const redis::Reply& reply, Open& open, Result& result) {
  std::vector<std::string>& tags = open.scan.tags;
  if (reply.size() < head) return;
  read_status(reply[0].text(), result);
  result.place = static_cast<std::size_t>(reply[1].integer());
  result.now = read_ms(reply[2].integer()).value_or(WallTime{0});
  result.next_free = read_ms(reply[3].integer());
  result.detail = shown_part(reply[4].text());
  result.refused = reply[5].text();
  result.more = result.more && result.refused.empty();
  std::size_t i = head;
  for (auto count = reply[6].integer(); count > 0; --count, i += 2)
    result.parked.push_back(
        {DisplayItem(reply[i].text(), static_cast<std::size_t>(reply[i + 1].integer())),
         too_long_text()});
  for (; i + 4 < reply.size() && result.taken.size() < tags.size(); i += 5) {
    ScheduledJob job{
        {std::string(reply[i].text()), static_cast<std::uint64_t>(reply[i + 2].integer()),
         static_cast<unsigned>(reply[i + 3].integer())},
        std::move(tags[result.taken.size()]),
        std::nullopt};
    const std::string_view schedule = reply[i + 4].text();
    if (schedule.starts_with('s')) job.schedule = schedule.substr(1);
    result.taken.push_back(std::move(job));
  }
}

template class Claimer<ScheduleClaims>;

}  // namespace w8y::store
