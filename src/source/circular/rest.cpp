// CircularSource: when an idle list is polled again.
#include <algorithm>
#include <utility>

#include "source/circular/source.hpp"

namespace w8y::source {

void CircularSource::stir() {
  end_rest();
  handler_.on_may_claim();
}

void CircularSource::end_rest() {
  resting_ = false;
  if (std::exchange(looking_, false)) paid_ = 0;  // the reply to the peek will be ignored
  if (std::exchange(looks_for_back_, false)) been_back();
  wake_due_.reset();
  IdlePolls::Sleeper::wake();
  list_->may_stop_listening();
}

void CircularSource::rest(const store::PassReply& reply) {
  resting_ = true;
  pay_for(reply);
  const Instant now = clock_.now();
  // The end of a delay that a run of this host has set is kept only if other hosts wait as well.
  if (line_ == store::Line::none || (free_at_ && *free_at_ <= now)) free_at_.reset();
  if (reply.next_free && (!free_at_ || now + *reply.next_free < *free_at_))
    free_at_ = now + *reply.next_free;
  if (reply.whole) looked_at_ = now;
  list_->listen(true);
  sleep({hint(), patience(), cost_of_look()});
}

/// Returns the time until an item may become free, or until the claim for a wake-up.
std::optional<Duration> CircularSource::hint() const {
  if (!free_at_ && !wake_due_) return std::nullopt;
  const Instant free_at = free_at_ ? *free_at_ : Instant::max();
  const Instant wake_due = wake_due_ ? *wake_due_ : Instant::max();
  return std::max(std::min(free_at, wake_due) - clock_.now(), Duration{0});
}

/// Returns the interval factor. A waiter is notified of its turn, and polls only to find changes
/// that no message reports. Up to two waiters poll as often as without a wait queue; more waiters
/// poll less often.
unsigned CircularSource::patience() const {
  return 1U + others_in_line_ / 2U;
}

/// Charges the idle budget for the calls of a claim above a normal number: `short_pass` if the
/// claim found items, otherwise 1. The other calls are not charged here. They were charged before
/// the claim, or the claim was no idle poll: it found items, or it followed a settlement of this
/// host.
void CircularSource::pay_for(const store::PassReply& reply) {
  const auto calls = static_cast<double>(reply.calls);
  const bool found = !reply.claims.empty();
  if (const double owed = calls - (found ? short_pass : 1); owed > 0) owe(owed);
}

/// Plans a poll for the end of a delay that a run of this host has set.
void CircularSource::expect_free(Duration in) {
  if (last_ == ClaimEnd::breaker) return;  // the next probe is later, or another host probes
  in += settled_within;
  const Instant at = clock_.now() + in;
  if (!resting_ || (free_at_ && *free_at_ <= at)) return;
  free_at_ = at;
  if (!looking_) sleep({hint(), 1, cost_of_look()});
}

/// Returns whether a peek is possible: at an empty list, or one without a free item. Such lists
/// share commands.
bool CircularSource::may_look() const {
  return !owes_whole_ && (last_ == ClaimEnd::empty || last_ == ClaimEnd::nothing_free);
}

void CircularSource::on_looked(const store::LookReply& reply) {
  if (!std::exchange(looking_, false)) return;
  // Peeks of all lists after a reconnect are paced by their replies and are no idle polls. Few of
  // these peeks share a command, so their cost does not predict the cost of the next peek.
  const bool for_back = std::exchange(looks_for_back_, false);
  if (!for_back) charge_pass(reply.cost - std::exchange(paid_, 0));
  if (reply.worth_it) {
    owes_whole_ = true;
    charge(1);
    paid_ = 1;  // for the claim
    claim_overdue();
    if (!claim_out_) been_back();
    return;
  }
  been_back();
  if (last_ == ClaimEnd::empty) owes_whole_ = false;
  const bool patient = reply.hears && last_ == ClaimEnd::empty;
  sleep({hint(), patient ? when_it_hears : patience(), for_back ? cost_of_look() : reply.cost});
}

/// Claims regardless of the wait queue if other hosts wait. A waiter with a turn claims at once, so
/// if a peek still finds an item free, no waiter is about to claim it.
void CircularSource::claim_overdue() {
  overdue_ = line_ != store::Line::none;
  stir();
  overdue_ = false;
}

// ---- Wake-ups

void CircularSource::on_wake() {
  owes_whole_ = true;
  if (claim_out_) {
    woken_ = woken_ || !claim_waits_;  // a claim that is sent later sees the change anyway
  } else if (resting_) {
    wake_up(wake_spread);
  }
}

void CircularSource::on_turn() {
  if (claim_out_) {
    turn_ = true;
  } else if (resting_) {
    wake_up(Duration{0});
  } else {
    list_->leave_line();  // no slot is free: passes the turn to the next waiter
  }
}

Duration CircularSource::wake_pause() const {
  return first_wake_pause * (1 << (fruitless_ - 1));
}

/// Plans a claim after a wake-up, at a random time in `within` if other hosts wait as well. Returns
/// true if the claim can start now. The pause after wake-ups that found nothing and the
/// idle budget limit the claims.
bool CircularSource::begin_wake(Duration within) {
  const Instant now = clock_.now();
  Instant at = now;
  if (fruitless_ > 0) at = std::max(at, woke_at_ + wake_pause());
  if (line_ != store::Line::none && within > Duration{0}) at += spread(within);
  if (wake_due_ && *wake_due_ <= at) return false;
  if (at <= now && pay()) {
    if (fruitless_ == 0) go_apart();
    end_rest();
    paid_ = 1;
    woke_at_ = now;
    for_wake_ = true;
    return true;
  }
  wake_due_ = at;
  if (!looking_) sleep({hint(), 1, 1});
  return false;
}

/// Called after the handler could start a claim. If it started none, no slot is free, and this host
/// leaves the wait queue.
void CircularSource::end_wake() {
  if (claim_out_) return;
  for_wake_ = false;
  list_->leave_line();
}

void CircularSource::wake_up(Duration within) {
  if (!begin_wake(within)) return;
  handler_.on_may_claim();
  end_wake();
}

void CircularSource::claim_for_wake() {
  woke_at_ = clock_.now();
  for_wake_ = true;
  stir();
  end_wake();
}

void CircularSource::note_wake(bool found) {
  if (found) fruitless_ = 0;
  if (std::exchange(for_wake_, false) && !found && fruitless_ < most_fruitless) ++fruitless_;
}

/// Called for all lists at once when Redis or a channel is available again.
void CircularSource::on_back() {
  owes_whole_ = true;
  line_ = store::Line::none;
  if (claim_out_) {
    woken_ = woken_ || !claim_waits_;  // a claim that is sent later sees the change anyway
  } else if (resting_) {
    come_back();
  }
}

void CircularSource::back_due() {
  if (std::exchange(claim_waits_, false)) {
    if (!still_wanted_) return on_claimed({});
    let_in_ = true;
    return send_claim();
  }
  if (resting_ && !claim_out_) {
    looks_for_back_ = last_ == ClaimEnd::empty;
    looks_for_back_ ? look() : stir();
  }
  if (!claim_out_ && !looking_) been_back();
}

/// Peeks. Many empty lists share one command, also when all of them peek at once.
void CircularSource::look() {
  IdlePolls::Sleeper::wake();
  looking_ = true;
  looked_at_ = clock_.now();
  list_->look();
}

/// Returns whether the last claim was long ago, so that the position in the wait queue may be lost.
/// Only a claim renews it and returns the number of other waiters.
bool CircularSource::long_in_line() const {
  if (line_ == store::Line::none) return false;
  const auto more = static_cast<Duration::rep>(std::max(others_in_line_, 1U) - 1);
  const Duration pause = (least_in_line + more * more_in_line) * (1 << in_vain_);
  return clock_.now() - claimed_at_ >= std::min(pause, most_in_line);
}

/// Returns whether a claim replaces the peek, to renew the position in the wait queue. A shared
/// peek is not charged in advance, and a claim is. So of a thousand waiting lists, few claim at a
/// time, and the others peek.
bool CircularSource::takes_place_again() {
  if (!long_in_line() || (paid_ == 0 && !pay_from_spare())) return false;
  paid_ = 1;
  if (in_vain_ < most_in_vain) ++in_vain_;
  return true;
}

void CircularSource::poll_due(bool hinted, double paid) {
  paid_ = paid;
  const Instant now = clock_.now();
  if (wake_due_ && *wake_due_ <= now) return claim_for_wake();
  // Without this check, frequent wake-ups and ends of delays could postpone the peek without end.
  const bool overdue = now - looked_at_ > look_at_least;
  if ((!hinted || overdue) && may_look() && !takes_place_again()) return look();
  hinted ? stir() : claim_overdue();
}

}  // namespace w8y::source
