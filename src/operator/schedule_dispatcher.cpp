#include "operator/schedule_dispatcher.hpp"

#include <algorithm>

#include "store/scripts.hpp"

namespace w8y::verbs {

namespace {

using std::chrono::milliseconds;

/// Maximum time until jobs that other clients add to the timeline are detected.
constexpr milliseconds max_wait{250};
/// Wait after an error.
constexpr milliseconds retry_wait{500};

}  // namespace

ScheduleDispatcher::ScheduleDispatcher(Connection& at, const ScheduleKeys& keys, Handler& handler)
    : detail::SubscriberOwner{redis::Subscriber(at.loop(), at.reach())},
      loop_(at.loop()),
      client_(at.redis().client()),
      keys_(keys),
      handler_(handler),
      timer_(loop_.timers()),
      wake_(subscriber.subscribe(keys.wake, [this](std::string_view, std::string_view text) {
        if (text == "timeline" || text == "control") on_wake();
      })) {}

void ScheduleDispatcher::run(std::optional<UnixSeconds> first) {
  dispatch(first);
  loop_.run();
}

void ScheduleDispatcher::dispatch(std::optional<UnixSeconds> up_to) {
  dispatching_ = true;
  again_ = false;
  const store::DispatchWords words(keys_, {up_to});
  client_.run(store::scripts::schedule_dispatch, words.keys(), words.arguments(),
              [this, up_to](const redis::Answer& answer) { on_reply(answer, up_to); });
}

void ScheduleDispatcher::dispatch_in(milliseconds wait, std::optional<UnixSeconds> up_to) {
  dispatching_ = false;
  timer_.set(loop_.now() + wait, [this, up_to] { dispatch(up_to); });
}

void ScheduleDispatcher::on_wake() {
  if (dispatching_) {
    again_ = true;
  } else if (error_.empty()) {
    dispatch_in(milliseconds(0), std::nullopt);
  }
}

void ScheduleDispatcher::on_reply(const redis::Answer& answer, std::optional<UnixSeconds> up_to) {
  if (!answer.ok()) {
    if (const std::string why = answer.problem(); why != error_) {
      error_ = why;
      handler_.on_error(why);
    }
    return dispatch_in(retry_wait, up_to);
  }
  if (!error_.empty()) handler_.on_recovered();
  error_.clear();
  const DispatchReply reply = store::read_dispatch(redis::ReplyCopy(answer.reply));
  if (reply.halted) return loop_.stop();
  handler_.on_dispatched(reply);
  const bool moved = reply.taken_off > reply.refused;
  if (reply.more && moved) return dispatch_in(milliseconds(0), up_to);
  dispatch_in(again_ ? milliseconds(0) : std::min(reply.next_due.value_or(max_wait), max_wait),
              std::nullopt);
}

}  // namespace w8y::verbs
