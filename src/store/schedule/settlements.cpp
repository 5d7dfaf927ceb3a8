#include "store/schedule/settlements.hpp"

#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store {

const redis::Script& ScheduleEnds::script() {
  return scripts::schedule_settle;
}

SettleResult ScheduleEnds::read(RedisSession&, const redis::Answer& answer, Call& call) {
  if (auto trouble = trouble_of(answer)) return {std::move(trouble)};
  const EndResult result = read_end(answer.reply);
  if (result.state == EndResult::State::changed) {
    decide(call, result.schedule, result.after);
    return {std::nullopt, true};
  }
  const bool done = result.state == EndResult::State::done;
  if (!result.refused.empty()) return {refused_beside(result.refused, done)};
  if (done && !call.why_bad.empty()) call.on_bad(call.job, call.why_bad);
  return {};
}

template class Settlements<ScheduleEnds>;

}  // namespace w8y::store
