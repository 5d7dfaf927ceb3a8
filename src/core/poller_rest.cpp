// A list in which there was nothing to do: when it is looked at again, and how much of it.
#include <algorithm>
#include <optional>
#include <utility>

#include <w8y/poller.hpp>

namespace w8y {

namespace {

/// Than such a silence: it is that which is waited for.
constexpr unsigned more_patient = 8;

}  // namespace

void Poller::stir() {
  end_rest();
  advance();
}

void Poller::end_rest() {
  resting_ = false;
  if (std::exchange(looking_, false)) paid_ = 0;  // its answer comes too late
  wake_due_.reset();
  IdlePolls::Sleeper::wake();
}

void Poller::rest(const ClaimReply& reply) {
  resting_ = true;
  if (ahead_.empty()) ahead_.shrink_to_fit();
  if (reply.calls > 1) owe(static_cast<double>(reply.calls - 1));
  const Instant now = host_.clock.now();
  // Where others wait too, an item that we have left to rest is ours to announce.
  if (line_ == Line::none || (free_at_ && *free_at_ <= now)) free_at_.reset();
  if (reply.next_free && (!free_at_ || now + *reply.next_free < *free_at_))
    free_at_ = now + *reply.next_free;
  if (reply.whole) looked_at_ = now;
  source_->listen(true);
  if (others_look()) return sleep_in_line();
  sleep({reply.next_free, 1, may_look() ? source_->look_cost() : 1});
}

/// A run of our own has left its item to rest.
void Poller::expect_free(Duration in) {
  in += settled_within;
  const Instant at = host_.clock.now() + in;
  if (!resting_ || (free_at_ && *free_at_ <= at)) return;
  free_at_ = at;
  if (!looking_) sleep({in, 1, may_look() ? source_->look_cost() : 1});
}

/// An empty list, and one in which nothing was free, can be looked at together with others.
bool Poller::may_look() const {
  return !owes_whole_ && (last_claim_ == ClaimEnd::empty || last_claim_ == ClaimEnd::nothing_free);
}

/// After a pass that took many calls, the ends are looked at first; as long as they have something,
/// and where something was set free elsewhere, all of it is looked at again when half of the idle
/// budget has paid for that.
void Poller::note_pass(const ClaimReply& reply, bool woken) {
  const bool satisfied = reply.end == ClaimEnd::more;
  if (satisfied && !scarce_ && reply.calls > short_pass) {
    scarce_ = true;
    pass_calls_ = reply.calls;
    whole_at_.reset();
  } else if (!satisfied && reply.whole) {
    scarce_ = reply.end == ClaimEnd::nothing_free;
    pass_calls_ = reply.calls;
    // What it was woken for meanwhile may stand where the pass had been already.
    owes_whole_ = woken;
    whole_at_.reset();
  } else if (!satisfied && !owes_whole_) {
    whole_at_.reset();
  }
  if (scarce_ && (satisfied || owes_whole_) && !whole_at_)
    whole_at_ = host_.clock.now() + time_for(static_cast<double>(pass_calls_));
}

/// A run of our own has set its item free: where the list is short, or we hold most of it, a whole
/// pass finds it at once. Else the ends do, as a rule: what was taken stands at the right one.
void Poller::note_freed() {
  owes_whole_ = true;
  const bool ours = pass_calls_ * items_per_call < runs_.size() * 2;
  if (pass_calls_ <= short_pass || ours) scarce_ = false;
  // Who waits for longer than we do is told of it; so are we, if nobody does.
  if (resting_ && line_ != Line::crowded) end_rest();
}

void Poller::on_looked(const LookReply& reply) {
  if (!std::exchange(looking_, false)) return;
  charge(reply.cost - std::exchange(paid_, 0));
  been_back();
  if (reply.worth_it) {
    owes_whole_ = true;
    charge(1);
    paid_ = 1;  // for the claim
    return stir();
  }
  looked_at_ = host_.clock.now();
  std::optional<Duration> hint;
  if (free_at_) hint = std::max(*free_at_ - looked_at_, Duration{0});
  if (wake_due_)
    hint = std::max(std::min(hint.value_or(Duration::max()), *wake_due_ - looked_at_), Duration{0});
  const bool patient = reply.hears && last_claim_ == ClaimEnd::empty;
  sleep({hint, patient ? when_it_hears : 1, reply.cost});
}

// ---- who wakes it

void Poller::on_wake() {
  owes_whole_ = true;
  if (claim_out_) {
    woken_ = true;
  } else if (resting_) {
    wake_up(wake_spread);
  }
}

void Poller::on_turn() {
  heard_at_ = freed_at_ = host_.clock.now();
  if (claim_out_) {
    turn_ = true;
  } else if (resting_) {
    wake_up(Duration{0});
  } else {
    source_->leave_line();  // there is no place for a run: it is the next one's turn
  }
}

void Poller::on_others(bool freed) {
  heard_at_ = host_.clock.now();
  if (freed) freed_at_ = heard_at_;
}

/// Within a time if others are woken too. At once if it can be, and no more often than is worth it
/// and the idle budget pays for.
void Poller::wake_up(Duration within) {
  const Instant now = host_.clock.now();
  Instant at = now;
  if (fruitless_ > 0) at = std::max(at, woke_at_ + first_wake_pause * (1 << (fruitless_ - 1)));
  if (line_ != Line::none && within > Duration{0}) at += spread(within);
  if (wake_due_ && *wake_due_ <= at) return;
  if (at <= now && pay()) {
    paid_ = 1;
    return claim_for_wake();
  }
  wake_due_ = at;
  if (!looking_) sleep({at - now, 1, 1});
}

void Poller::claim_for_wake() {
  woke_at_ = host_.clock.now();
  for_wake_ = true;
  stir();
  if (claim_out_) return;
  for_wake_ = false;
  source_->leave_line();  // no place of the host is free
}

void Poller::note_wake(bool found) {
  if (found) fruitless_ = 0;
  if (std::exchange(for_wake_, false) && !found && fruitless_ < most_fruitless) ++fruitless_;
}

/// Redis is back, for all lists at once.
void Poller::on_back() {
  owes_whole_ = true;
  line_ = Line::none;
  if (claim_out_) {
    woken_ = true;
  } else if (resting_) {
    come_back();
  }
}

/// All lists of a host begin at once, get another rule or another connection, or are no longer
/// quiet: the first claims after that are paced by their answers, too.
bool Poller::is_let_in() {
  if (let_in_) return true;
  let_in_ = come_in();
  if (let_in_) return true;
  resting_ = true;
  set_state(PollerState::resting);
  return false;
}

void Poller::back_due() {
  if (resting_ && !claim_out_) {
    let_in_ = true;
    stir();
  }
  if (!claim_out_) been_back();
}

// ---- in the line

/// Whether somebody who waits as we do looks after the list.
bool Poller::others_look() const {
  return line_ != Line::none && host_.clock.now() - freed_at_ < at_work;
}

void Poller::sleep_in_line() {
  const Instant now = host_.clock.now();
  Instant at = std::max(heard_at_, now - silence) + silence + spread(silence);
  if (free_at_) at = std::min(at, std::max(*free_at_, now));
  if (wake_due_) at = std::min(at, std::max(*wake_due_, now));
  sleep({at - now, more_patient, 1});
}

void Poller::poll_due(bool hinted, double paid) {
  paid_ = paid;
  const Instant now = host_.clock.now();
  if (wake_due_ && *wake_due_ <= now) return claim_for_wake();
  if (others_look()) {
    if (free_at_ && *free_at_ <= now) {
      free_at_.reset();
      return stir();
    }
    if (now - heard_at_ < silence) {
      charge(-std::exchange(paid_, 0));
      return sleep_in_line();
    }
    overdue_ = true;
    heard_at_ = now;
    stir();
    overdue_ = false;
    return;
  }
  // Hints may come sooner than any turn, for ever.
  const bool overdue = host_.clock.now() - looked_at_ > look_at_least;
  if ((!hinted || overdue) && may_look()) {
    looking_ = true;
    return source_->look();
  }
  stir();
}

}  // namespace w8y
