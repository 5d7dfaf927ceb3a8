#include "source/schedule/dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "core/item.hpp"
#include "core/schedule_settings.hpp"

namespace w8y::source {

Dispatcher::Dispatcher(const Clock& clock, TimerQueue& timers, IdlePolls& idle,
                       ListMaintenanceHandler& handler, const MakeQueue& make, Note note,
                       ListConfigPtr rule)
    : IdlePolls::Sleeper(idle),
      clock_(clock),
      handler_(handler),
      note_(std::move(note)),
      rule_(std::move(rule)),
      timer_(timers),
      queue_(make(*this)) {
  queue_->use(rule_);
  charge(queue_->listen_to_timeline());
  enter();
}

Dispatcher::~Dispatcher() = default;

void Dispatcher::use(ListConfigPtr rule) {
  const bool other_keys = rule->bare_key_prefix() != rule_->bare_key_prefix();
  const bool starts = rule->schedule().dispatches() && !rule_->schedule().dispatches();
  rule_ = std::move(rule);
  queue_->use(rule_);
  if (!other_keys && !starts) return;
  due_at_.reset();
  recover_at_ = Instant{};
  if (state_ == State::asking) {
    again_ = true;
  } else if (state_ == State::waiting) {
    enter();
  }
}

/// Requests admission for the next dispatch. All lists of a host start, or reconnect to Redis, at
/// the same time.
void Dispatcher::enter() {
  IdlePolls::Sleeper::wake();
  timer_.cancel();
  state_ = State::entering;
  if (come_in()) back_due();
}

void Dispatcher::back_due() {
  looked_ = false;
  ask();
}

/// Dispatches, or recovers jobs of dead hosts if that is due and a dispatch was sent after the last
/// notification.
void Dispatcher::ask() {
  IdlePolls::Sleeper::wake();
  timer_.cancel();
  state_ = State::asking;
  const bool recovers = looked_ && clock_.now() >= recover_at_;
  looked_ = true;
  again_ = false;
  const bool dispatches = rule_->schedule().dispatches();
  if (!dispatches) changed_ = false;
  if (!dispatches || recovers) return queue_->recover();
  for_change_ = std::exchange(changed_, false);
  if (for_change_) change_look_ = clock_.now();
  queue_->dispatch();
}

void Dispatcher::on_dispatched(store::DispatchAnswer&& answer) {
  been_back();
  if (!answer.reply) return not_done(answer);
  const store::DispatchReply& reply = *answer.reply;
  const Instant now = clock_.now();
  const std::optional<Instant> before = std::exchange(due_at_, std::nullopt);
  if (reply.next_due) due_at_ = now + *reply.next_due;
  if (reply.more) due_at_ = now;
  for (const auto late : reply.late) handler_.on_enqueued(late);
  if (for_change_) note_fruit(reply.taken_off > 0 || (due_at_ && (!before || *due_at_ < *before)));
  tell(reply.refused == 0 ? std::string()
                          : "the job " + std::string(shown_part(reply.first_refused)) +
                                " cannot be queued: " + reply.why);
  const auto second = std::chrono::duration_cast<std::chrono::seconds>(reply.now).count();
  const ScheduleSettings& settings = rule_->schedule();
  const std::string& timefile =
      settings.timefile.empty() ? settings.shared.timefile : settings.timefile;
  if (!reply.halted && !reply.more && second > noted_ && !timefile.empty()) {
    noted_ = second;
    note_(timefile, second);
  }
  next();
}

void Dispatcher::on_recovered(std::size_t, std::optional<Duration> soonest) {
  been_back();
  const Duration pause = std::min(soonest.value_or(recover_pause), recover_pause);
  recover_at_ = clock_.now() + std::max(pause, least_recover_pause);
  next();
}

void Dispatcher::not_done(const store::DispatchAnswer& answer) {
  const bool refused = answer.trouble == ClaimEnd::refused;
  if (refused) tell(answer.why);
  not_before_ = clock_.now() + after_trouble;
  recover_at_ = std::max(recover_at_, not_before_);
  // When an unavailable server is available again, on_back() is called.
  again_ = refused;
  due_at_.reset();
  wait();
}

void Dispatcher::next() {
  if (!rule_->schedule().dispatches()) due_at_.reset();
  if (again_ || (due_at_ && *due_at_ <= clock_.now())) {
    looked_ = false;
    return ask();
  }
  if (clock_.now() >= recover_at_) return ask();
  wait();
}

void Dispatcher::wait() {
  state_ = State::waiting;
  charge(queue_->listen_to_timeline());
  set_timer();
  sleep({std::max(recover_at_ - clock_.now(), Duration{0}), 1, 1});
}

void Dispatcher::set_timer() {
  std::optional<Instant> at = again_ ? std::optional(not_before_) : due_at_;
  if (changed_ && (!at || change_at() < *at)) at = change_at();
  if (!at) return;
  timer_.set(std::max(*at, not_before_), [this] {
    looked_ = false;
    ask();
  });
}

void Dispatcher::poll_due(bool, double) {
  if (clock_.now() < not_before_) return wait();
  // A dispatch also finds changes that no notification has reported.
  looked_ = clock_.now() >= recover_at_;
  ask();
}

Instant Dispatcher::change_at() const {
  return fruitless_ == 0 ? Instant{} : change_look_ + first_change_pause * (1 << (fruitless_ - 1));
}

/// Records whether a dispatch after a change found jobs. If not, it is charged like an idle poll.
void Dispatcher::note_fruit(bool found) {
  fruitless_ = found ? 0 : std::min(fruitless_ + 1, most_fruitless);
  if (!found) charge(1);
}

void Dispatcher::on_news(store::ScheduleNews news) {
  if (news == store::ScheduleNews::changed) {
    changed_ = rule_->schedule().dispatches();
    if (changed_ && state_ == State::waiting) set_timer();
    return;
  }
  if (news != store::ScheduleNews::timeline && news != store::ScheduleNews::orders) return;
  if (!rule_->schedule().dispatches()) return;
  again_ = true;
  if (state_ != State::waiting) return;
  if (clock_.now() < not_before_) return wait();
  looked_ = false;
  ask();
}

void Dispatcher::on_back() {
  if (state_ == State::asking) {
    again_ = true;
  } else if (state_ == State::waiting) {
    not_before_ = Instant{};
    enter();
  }
}

void Dispatcher::tell(const std::string& why) {
  if (why == std::exchange(trouble_, why)) return;
  handler_.on_maintenance_error(why);
}

}  // namespace w8y::source
