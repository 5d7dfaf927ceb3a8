#include "source/queue_source.hpp"

#include <algorithm>
#include <utility>

namespace w8y::source {

QueueSource::QueueSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler)
    : IdlePolls::Sleeper(idle), clock_(clock), told_(handler) {}

void QueueSource::renewed() {
  let_in_ = false;
  end_rest();
}

// ---- Claims

/// Starts a claim. All lists of a host start or reconnect at the same time, so their first claims
/// wait for admission.
void QueueSource::claim(std::size_t wanted) {
  out_ = true;
  still_wanted_ = true;
  wanted_ = wanted;
  if (!let_in_) let_in_ = come_in();
  if (let_in_) queue().take(wanted_);  // else back_due() sends it
}

void QueueSource::back_due() {
  if (let_in_ || !out_) {
    been_back();
    if (resting_) stir();
    return;
  }
  let_in_ = true;
  queue().take(wanted_);
}

void QueueSource::taken(store::TakeReply&& reply) {
  out_ = false;
  const bool woken = std::exchange(woken_, false);
  const bool for_wake = std::exchange(for_wake_, false);
  const double paid = std::exchange(paid_, 0);
  const bool found = !reply.claims.empty();
  if (found) {
    charge(-paid);  // a claim that finds items is no idle poll
    fruitless_ = 0;
  } else if (for_wake) {
    fruitless_ = std::min(fruitless_ + 1, most_fruitless);
  }
  if (still_wanted_ && reply.end != ClaimEnd::more) rest(reply, woken);
  been_back();
  for (const auto& parked : reply.parked) told_.on_quarantined(parked.item, parked.why);
  told_.on_claimed(std::move(reply));
}

void QueueSource::stop_waiting() {
  still_wanted_ = false;
  let_in_ = false;
  end_rest();
}

// ---- Idle queues

/// Makes the source idle. After a wake-up during the claim, an empty result may be outdated, so the
/// next claim is soon.
void QueueSource::rest(const store::TakeReply& reply, bool woken) {
  resting_ = true;
  queue().listen(true);
  std::optional<Duration> hint = woken ? std::optional(Duration{0}) : reply.next_free;
  if (fruitless_ > 0 && hint) hint = std::max(*hint, first_wake_pause * (1 << (fruitless_ - 1)));
  const bool patient = reply.end == ClaimEnd::empty && queue().hears();
  sleep({hint, patient ? when_it_hears : 1, 1});
}

void QueueSource::end_rest() {
  resting_ = false;
  wake_waits_ = false;
  IdlePolls::Sleeper::wake();
}

void QueueSource::stir() {
  if (wake_waits_) {
    woke_at_ = clock_.now();
    for_wake_ = true;
  }
  end_rest();
  told_.on_may_claim();
}

void QueueSource::poll_due(bool, double paid) {
  paid_ = paid;
  stir();
}

void QueueSource::news() {
  if (out_) {
    woken_ = true;
    return;
  }
  if (!resting_) return;
  const Instant now = clock_.now();
  const Instant at =
      fruitless_ > 0 ? woke_at_ + first_wake_pause * (1 << (fruitless_ - 1)) : Instant{};
  wake_waits_ = true;
  if (at > now) return sleep({at - now, 1, 1});
  stir();
}

void QueueSource::back() {
  let_in_ = false;
  if (out_) {
    woken_ = true;
  } else if (resting_) {
    stir();
  }
}

}  // namespace w8y::source
