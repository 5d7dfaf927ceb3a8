#include "store/schedule/end_call.hpp"

#include "core/number.hpp"
#include "store/run_record.hpp"

namespace w8y::store {

namespace {

struct StepWords {
  EndCall& call;
  void operator()(const Enqueue&) const { call.effect = "enqueue"; }
  void operator()(const RunAt& at) const {
    call.effect = "at";
    call.number = at.time;
  }
  void operator()(const RunIn& in) const {
    call.effect = "in";
    call.number = in.time.count();
  }
  void operator()(const StopJob&) const { call.effect = "stop"; }
  void operator()(const BadJob&) const { call.effect = "bad"; }
  void operator()(const UnsetJob&) const { call.effect = "unset"; }
};

}  // namespace

void decide(EndCall& call, const std::optional<std::string>& schedule, UnixSeconds now) {
  ScheduleDecision decision = call.decide(schedule, now, call.backoff);
  std::visit(StepWords{call}, decision.step);
  call.decided_by = schedule ? "s" + *schedule : "n";
  call.after = now;
  call.begins_then = decision.begins_then;
  call.schedule = decision.schedule.value_or("");
  call.why_bad = std::move(decision.why_bad);
}

EndWords::EndWords(const ScheduleKeys& keys, const EndCall& call)
    : working_(keys.working(call.job)),
      numbers_{std::to_string(call.number), call.after ? std::to_string(*call.after) : "",
               to_text(call.history), std::to_string(call.instead.count())},
      keys_{keys.schedules, keys.statuses, keys.timeline, keys.taken, keys.failures,
            keys.slots,     keys.runs,     working_,      keys.due,   keys.jitter},
      arguments_{keys.work_prefix,
                 keys.wake,
                 keys.events,
                 call.more,
                 call.job,
                 call.tag,
                 call.run,
                 call.effect,
                 numbers_[0],
                 call.decided_by,
                 numbers_[1],
                 call.begins_then ? "1" : "0",
                 call.schedule,
                 to_text(call.failures),
                 call.again ? "1" : "0",
                 numbers_[2],
                 call.event,
                 call.catches_up ? "1" : "0",
                 call.kept,
                 call.breaker_limits,
                 call.breaker,
                 numbers_[3],
                 keys.list} {}

EndResult read_end(const redis::Reply& reply) {
  EndResult result;
  const std::string_view state = reply[0].text();
  if (state == "not ours") result.state = EndResult::State::not_ours;
  if (state == "changed") result.state = EndResult::State::changed;
  result.refused = reply[1].text();
  result.now = read_integer(reply[2].integer(), seconds_range).value_or(0);
  result.after = result.now;
  if (reply.size() > 4)
    if (const auto due = read_integer(reply[4].text(), seconds_range)) result.after = *due;
  if (const auto schedule = reply[3].text(); schedule.starts_with('s'))
    result.schedule = schedule.substr(1);
  return result;
}

}  // namespace w8y::store
