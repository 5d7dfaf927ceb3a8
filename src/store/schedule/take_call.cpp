#include "store/schedule/take_call.hpp"

#include "core/number.hpp"
#include "store/circular/script_locks.hpp"

namespace w8y::store {

namespace {

/// Number of elements in the reply before those of long jobs.
constexpr std::size_t words_before_jobs = 7;

TakeStatus status_of(std::string_view text) {
  if (text == "more") return TakeStatus::more;
  if (text == "empty") return TakeStatus::empty;
  if (text == "halted") return TakeStatus::halted;
  if (text == "paused") return TakeStatus::paused;
  if (text == "full") return TakeStatus::full;
  if (text == "breaker") return TakeStatus::breaker;
  return TakeStatus::ok;
}

}  // namespace

TakeWords::TakeWords(const TakeCall& call)
    : numbers_{ms_text(call.life),
               std::to_string(call.fleet_limit),
               std::to_string(call.place),
               std::to_string(max_item),
               std::to_string(ScriptLocks::most_bytes_looked_at),
               std::to_string(item_shown + 1),  // one byte more shows that it is truncated
               std::to_string(call.newest_fence),
               std::to_string(call.queues.size())},
      keys_{call.keys.control,  call.keys.paused,    call.keys.fence,
            call.keys.failures, call.keys.slots,     call.keys.statuses,
            call.keys.taken,    call.keys.schedules, call.keys.halted},
      arguments_{call.keys.work_prefix, call.holder} {
  if (call.has_breaker) keys_.push_back(call.keys.breaker);
  arguments_.insert(arguments_.end(), numbers_.begin(), numbers_.end() - 1);
  arguments_.insert(arguments_.end(), {call.keys.list, numbers_.back()});
  arguments_.insert(arguments_.end(), call.queues.begin(), call.queues.end());
  for (const Ticket& ticket : call.tickets)
    arguments_.insert(arguments_.end(), {ticket.run, ticket.tag});
}

TakeResult read_take(const redis::Reply& reply) {
  TakeResult result;
  if (reply.size() < words_before_jobs) return result;
  result.status = status_of(reply[0].text());
  result.place = static_cast<std::size_t>(reply[1].integer());
  result.now = read_ms(reply[2].integer()).value_or(WallTime{0});
  result.next_free = read_ms(reply[3].integer());
  result.detail = shown_part(reply[4].text());
  result.refused = reply[5].text();
  std::size_t i = words_before_jobs;
  for (auto count = reply[6].integer(); count > 0; --count, i += 2)
    result.too_long.emplace_back(reply[i].text(), static_cast<std::size_t>(reply[i + 1].integer()));
  for (; i + 4 < reply.size(); i += 5) {
    TakenJob job{std::string(reply[i].text()), static_cast<std::size_t>(reply[i + 1].integer()),
                 static_cast<std::uint64_t>(reply[i + 2].integer()),
                 static_cast<unsigned>(reply[i + 3].integer()), std::nullopt};
    const std::string_view schedule = reply[i + 4].text();
    if (schedule.starts_with('s')) job.schedule = schedule.substr(1);
    result.taken.push_back(std::move(job));
  }
  return result;
}

}  // namespace w8y::store
