#include "store/schedule/settlements.hpp"

#include <optional>
#include <utility>

#include "store/scripts.hpp"
#include "store/settlements_impl.hpp"

namespace w8y::store {

void ScheduleEnds::send(RedisSession& session, const Keys& keys,
                        const std::vector<const Call*>& calls, Answer answer) {
  const EndWords words(keys, *calls.front());
  session.client.run(scripts::schedule_settle, words.keys(), words.arguments(),
                     [answer = std::move(answer)](const redis::Answer& got) {
                       EndResult result;
                       auto trouble = trouble_of(got);
                       if (!trouble) {
                         result = read_end(got.reply);
                         if (!result.refused.empty() && result.state != EndResult::State::changed)
                           trouble = refused_beside(result.refused,
                                                    result.state == EndResult::State::done);
                       }
                       answer(0, trouble ? &*trouble : nullptr, result);
                     });
}

bool ScheduleEnds::again(Call& call, const EndResult& result) {
  if (result.state == EndResult::State::changed) {
    decide(call, result.schedule, result.after);
    return true;
  }
  if (result.state == EndResult::State::done && !call.why_bad.empty())
    call.on_bad(call.job, call.why_bad);
  return false;
}

template class Settlements<ScheduleEnds>;

}  // namespace w8y::store
