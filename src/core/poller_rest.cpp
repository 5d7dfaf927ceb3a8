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
  source_->listen(true);
  sleep_until(reply.next_free);
}

void Poller::sleep_until(std::optional<Duration> hint) {
  sleep({hint, 1, may_look() ? source_->look_cost() : 1});
  // It stays that turn however often hints come before it.
  if (owes_whole_ && !whole_at_) whole_at_ = turn();
}

/// A run of our own has left its item to rest.
void Poller::expect_free(Duration in) {
  in += settled_within;
  const Instant at = host_.clock.now() + in;
  if (!resting_ || (free_at_ && *free_at_ <= at)) return;
  free_at_ = at;
  if (!looking_) sleep_until(in);
}

/// An empty list, and one in which nothing was free, can be looked at together with others.
bool Poller::may_look() const {
  return !owes_whole_ && (last_claim_ == ClaimEnd::empty || last_claim_ == ClaimEnd::nothing_free);
}

/// What was woken for while a whole pass went on may stand where it had been already.
void Poller::note_pass(const ClaimReply& reply, bool woken) {
  if (reply.end == ClaimEnd::more || !reply.whole) return;
  scarce_ = reply.end == ClaimEnd::nothing_free;
  pass_calls_ = reply.calls;
  owes_whole_ = woken;
  whole_at_.reset();
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
  if (!hinted && may_look()) {
    looking_ = true;
    return source_->look();
  }
  stir();
}

}  // namespace w8y
