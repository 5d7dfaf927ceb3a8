// A list in which there was nothing to do: when it is looked at again, and how much of it.
#include <algorithm>
#include <optional>
#include <utility>

#include <w8y/poller.hpp>

namespace w8y {

void Poller::stir() {
  end_rest();
  advance();
}

void Poller::end_rest() {
  resting_ = false;
  if (std::exchange(looking_, false)) paid_ = 0;  // its answer comes too late
  IdlePolls::Sleeper::wake();
}

void Poller::rest(const ClaimReply& reply) {
  resting_ = true;
  if (ahead_.empty()) ahead_.shrink_to_fit();
  if (reply.calls > 1) owe(static_cast<double>(reply.calls - 1));
  free_at_.reset();
  if (reply.next_free) free_at_ = host_.clock.now() + *reply.next_free;
  if (reply.whole) looked_at_ = host_.clock.now();
  source_->listen(true);
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
  if (resting_) end_rest();
}

void Poller::on_looked(const LookReply& reply) {
  if (!std::exchange(looking_, false)) return;
  charge(reply.cost - std::exchange(paid_, 0));
  if (reply.worth_it) {
    owes_whole_ = true;
    charge(1);
    paid_ = 1;  // for the claim
    return stir();
  }
  looked_at_ = host_.clock.now();
  std::optional<Duration> hint;
  if (free_at_) hint = std::max(*free_at_ - host_.clock.now(), Duration{0});
  const bool patient = reply.hears && last_claim_ == ClaimEnd::empty;
  sleep({hint, patient ? when_it_hears : 1, reply.cost});
}

void Poller::on_wake() {
  owes_whole_ = true;
  if (claim_out_) {
    woken_ = true;
  } else if (resting_) {
    stir();
  }
}

void Poller::poll_due(bool hinted, double paid) {
  paid_ = paid;
  // Hints may come sooner than any turn, for ever.
  const bool overdue = host_.clock.now() - looked_at_ > look_at_least;
  if ((!hinted || overdue) && may_look()) {
    looking_ = true;
    return source_->look();
  }
  stir();
}

}  // namespace w8y
