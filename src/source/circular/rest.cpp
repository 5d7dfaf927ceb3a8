// CircularSource: when a list that had nothing to do is asked again.
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
  if (std::exchange(looking_, false)) paid_ = 0;  // its answer comes too late
  if (std::exchange(looks_for_back_, false)) been_back();
  wake_due_.reset();
  IdlePolls::Sleeper::wake();
  list_->may_stop_listening();
}

void CircularSource::rest(const store::PassReply& reply) {
  resting_ = true;
  pay_for(reply);
  const Instant now = clock_.now();
  // Where others wait too, an item that we have left to rest is ours to announce.
  if (line_ == store::Line::none || (free_at_ && *free_at_ <= now)) free_at_.reset();
  if (reply.next_free && (!free_at_ || now + *reply.next_free < *free_at_))
    free_at_ = now + *reply.next_free;
  if (reply.whole) looked_at_ = now;
  list_->listen(true);
  sleep({hint(), patience(), cost_of_look()});
}

/// In how long something may become free here, or a wake is to be followed.
std::optional<Duration> CircularSource::hint() const {
  if (!free_at_ && !wake_due_) return std::nullopt;
  const Instant free_at = free_at_ ? *free_at_ : Instant::max();
  const Instant wake_due = wake_due_ ? *wake_due_ : Instant::max();
  return std::max(std::min(free_at, wake_due) - clock_.now(), Duration{0});
}

/// Whoever waits in the line is told of its turn, and looks for what nobody tells of. Two do that
/// as often as without a line; the more there are, the more seldom each.
unsigned CircularSource::patience() const {
  return 1U + others_in_line_ / 2U;
}

/// One that has found something, or follows an end of our own and so was not paid, was no idle
/// poll: it owes only for what is much for a run.
void CircularSource::pay_for(const store::PassReply& reply) {
  const auto calls = static_cast<double>(reply.calls);
  const bool found = !reply.claims.empty();
  if (const double owed = calls - (found ? short_pass : 1); owed > 0) owe(owed);
}

/// A run of our own has left its item to rest.
void CircularSource::expect_free(Duration in) {
  in += settled_within;
  const Instant at = clock_.now() + in;
  if (!resting_ || (free_at_ && *free_at_ <= at)) return;
  free_at_ = at;
  if (!looking_) sleep({hint(), 1, cost_of_look()});
}

/// An empty list, and one in which nothing was free, can be looked at together with others.
bool CircularSource::may_look() const {
  return !owes_whole_ && (last_ == ClaimEnd::empty || last_ == ClaimEnd::nothing_free);
}

void CircularSource::on_looked(const store::LookReply& reply) {
  if (!std::exchange(looking_, false)) return;
  // What all do when they come back is paced by the answers, and is no idle poll. Few of them share
  // a command then, which says nothing of what the next look costs.
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

/// Where others wait, those whose turn it is come at once. What a look sees free is nobody's.
void CircularSource::claim_overdue() {
  overdue_ = line_ != store::Line::none;
  stir();
  overdue_ = false;
}

// ---- who wakes it

void CircularSource::on_wake() {
  owes_whole_ = true;
  if (claim_out_) {
    woken_ = woken_ || !claim_waits_;  // else it is sent later than this
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
    list_->leave_line();  // there is no place for a run: it is the next one's turn
  }
}

Duration CircularSource::wake_pause() const {
  return first_wake_pause * (1 << (fruitless_ - 1));
}

/// Within a time if others are woken too. At once if it can be (true: a claim is worth it now), and
/// no more often than is worth it and the idle budget pays for.
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

/// Whoever may claim has claimed, or there is no place for a run.
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

/// Redis is back, or a channel, for all lists at once.
void CircularSource::on_back() {
  owes_whole_ = true;
  line_ = store::Line::none;
  if (claim_out_) {
    woken_ = woken_ || !claim_waits_;  // else it is sent later than this
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

/// Many that are empty are looked at in one command, also where all have to know at once.
void CircularSource::look() {
  IdlePolls::Sleeper::wake();
  looking_ = true;
  looked_at_ = clock_.now();
  list_->look();
}

/// A place in the line may be lost: only a claim takes it again, and tells how many others wait.
bool CircularSource::long_in_line() const {
  if (line_ == store::Line::none) return false;
  const auto more = static_cast<Duration::rep>(std::max(others_in_line_, 1U) - 1);
  const Duration pause = (least_in_line + more * more_in_line) * (1 << in_vain_);
  return clock_.now() - claimed_at_ >= std::min(pause, most_in_line);
}

/// A look that many lists share is not paid for when it begins, and a claim is. Of a thousand lists
/// that wait in their lines, few claim at a time, and the others look.
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
  // Hints may come sooner than any turn, for ever.
  const bool overdue = now - looked_at_ > look_at_least;
  if ((!hinted || overdue) && may_look() && !takes_place_again()) return look();
  hinted ? stir() : claim_overdue();
}

}  // namespace w8y::source
