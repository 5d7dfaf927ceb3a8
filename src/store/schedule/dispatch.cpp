#include "store/schedule/dispatch.hpp"

#include "core/number.hpp"

namespace w8y::store {

namespace {

/// Maximum number of jobs per call, so that Redis is not blocked for long.
constexpr const char* jobs_at_once = "256";
/// Number of elements in the reply before those of each job.
constexpr std::size_t words_before_late = 10;

const char* name_of(CatchUp catch_up) {
  return catch_up == CatchUp::one ? "one" : catch_up == CatchUp::all ? "all" : "none";
}

std::string catch_up_text(const DispatchCall& call) {
  std::string text = name_of(call.catch_up);
  if (call.shared == nullptr) return text;
  for (const SharedKeyPrefix::Queue& queue : call.shared->others)
    if (queue.catch_up != call.catch_up)
      text.append(":").append(queue.code).append(":").append(name_of(queue.catch_up));
  return text;
}

}  // namespace

DispatchWords::DispatchWords(const ScheduleKeys& keys, const DispatchCall& call)
    : up_to_(call.up_to ? std::to_string(*call.up_to) : ""),
      catch_up_(catch_up_text(call)),
      keys_{keys.timeline,  keys.statuses, keys.control, keys.halted,
            keys.schedules, keys.due,      keys.jitter},
      arguments_{keys.work_prefix, keys.wake, jobs_at_once, up_to_, call.even_halted ? "1" : "0",
                 catch_up_} {
  for (const auto& [missed, effect] : call.decisions)
    arguments_.insert(arguments_.end(), {missed.job, missed.schedule, missed.time, effect});
}

DispatchReply read_dispatch(const redis::ReplyCopy& reply) {
  DispatchReply read;
  const auto& told = reply.elements;
  if (told.size() < words_before_late) return read;
  const auto count = [&](std::size_t i) { return static_cast<std::size_t>(told[i].number); };
  read.halted = told[0].text == "halted";
  read.taken_off = count(1);
  read.enqueued = count(2);
  read.more = told[3].number == 1;
  read.next_due = read_ms(told[4].number);
  read.now = read_ms(told[5].number).value_or(WallTime{0});
  read.refused = count(6);
  read.first_refused = told[7].text;
  read.why = told[8].text;
  const auto& missed = told[9].elements;
  for (std::size_t i = 0; i + 2 < missed.size(); i += 3)
    read.missed.push_back({missed[i].text, missed[i + 1].text, missed[i + 2].text});
  for (std::size_t i = words_before_late; i < told.size(); ++i)
    read.late.emplace_back(told[i].number);
  return read;
}

}  // namespace w8y::store
