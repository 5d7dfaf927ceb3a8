#include "source/schedule/dispatcher.hpp"

#include <algorithm>
#include <utility>

#include <w8y/item.hpp>

namespace w8y::source {

Dispatcher::Dispatcher(const Clock& clock, TimerQueue& timers, IdlePolls& idle,
                       UpkeepHandler& handler, const MakeTimeline& make, Note note, RulePtr rule)
    : IdlePolls::Sleeper(idle),
      clock_(clock),
      handler_(handler),
      note_(std::move(note)),
      rule_(std::move(rule)),
      timer_(timers),
      timeline_(make(*rule_, *this)) {
  enter();
}

Dispatcher::~Dispatcher() = default;

void Dispatcher::use(RulePtr rule) {
  rule_ = std::move(rule);
}

/// All lists of a host begin at once, and all are told that Redis is back: few at a time look.
void Dispatcher::enter() {
  IdlePolls::Sleeper::wake();
  timer_.cancel();
  state_ = State::entering;
  if (come_in()) back_due();
}

void Dispatcher::back_due() {
  looked_ = false;
  ask();
  been_back();
}

/// What is due first, then what others have left behind.
void Dispatcher::ask() {
  IdlePolls::Sleeper::wake();
  timer_.cancel();
  state_ = State::asking;
  const bool recovers = looked_ && clock_.now() >= recover_at_;
  looked_ = true;
  again_ = false;
  if (!rule_->schedule().dispatch || recovers) return timeline_->recover();
  timeline_->dispatch();
}

void Dispatcher::on_dispatched(const store::DispatchReply& reply) {
  const Instant now = clock_.now();
  due_at_.reset();
  if (reply.next_due) due_at_ = now + *reply.next_due;
  if (reply.more) due_at_ = now;
  tell(reply.refused == 0 ? std::string()
                          : "the job " + std::string(shown_part(reply.first_refused)) +
                                " can't be entered in its queue: " + reply.why);
  const auto second = std::chrono::duration_cast<std::chrono::seconds>(reply.now).count();
  if (!reply.halted && !reply.more && second > noted_ && !rule_->schedule().timefile.empty()) {
    noted_ = second;
    note_(rule_->schedule().timefile, second);
  }
  next();
}

void Dispatcher::on_recovered(const store::RecoverReply& reply) {
  Duration pause = recover_pause;
  if (reply.next_over) pause = std::min<Duration>(pause, *reply.next_over);
  recover_at_ = clock_.now() + std::max(pause, least_recover_pause);
  if (reply.more) recover_at_ = clock_.now();
  next();
}

void Dispatcher::on_unavailable(const store::TimelineTrouble& trouble) {
  if (trouble.about_keys) tell(trouble.why);
  not_before_ = clock_.now() + after_trouble;
  recover_at_ = std::max(recover_at_, not_before_);
  // A server that is away says itself when it is back.
  again_ = trouble.about_keys;
  due_at_.reset();
  wait();
}

void Dispatcher::next() {
  if (again_ || (due_at_ && *due_at_ <= clock_.now())) {
    looked_ = false;
    return ask();
  }
  if (clock_.now() >= recover_at_) return ask();
  wait();
}

void Dispatcher::wait() {
  state_ = State::waiting;
  const Instant now = clock_.now();
  std::optional<Instant> at = again_ ? std::optional(not_before_) : due_at_;
  if (at) {
    timer_.set(std::max(*at, not_before_), [this] {
      looked_ = false;
      ask();
    });
  }
  sleep({std::max(recover_at_ - now, Duration{0}), timeline_->hears() ? when_it_hears : 1, 1});
}

void Dispatcher::poll_due(bool, double) {
  if (clock_.now() < not_before_) return wait();
  // A look finds also what nobody told us of.
  looked_ = clock_.now() >= recover_at_;
  ask();
}

void Dispatcher::on_wake() {
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
  handler_.on_upkeep_trouble(why);
}

}  // namespace w8y::source
