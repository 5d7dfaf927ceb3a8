#include "source/claiming_source.hpp"

#include <algorithm>
#include <utility>

namespace w8y::source {

ClaimingSource::ClaimingSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler)
    : IdlePolls::Sleeper(idle), clock_(clock), told_(handler) {}

void ClaimingSource::use(ListConfigPtr rule) {
  queue().use(std::move(rule));
  admitted_ = false;
  activate();
}

// ---- Claims

/// Starts a claim. Many lists of a host start, get a new config or resume at the same time, so the
/// first claim after use() or stop_waiting() waits for admission. After a reconnect, on_back()
/// requests the admission.
void ClaimingSource::claim(std::size_t wanted) {
  in_flight_ = true;
  still_wanted_ = true;
  wanted_ = static_cast<std::uint32_t>(wanted);
  if (!admitted_) admitted_ = come_in();
  claim_waits_ = !admitted_;  // see back_due()
  if (admitted_) send_claim(wanted_);
}

void ClaimingSource::on_claimed(ClaimReply&& reply) {
  prepare(reply);
  in_flight_ = false;
  last_ = reply.end;
  wait_queue_ = reply.wait_queue;
  other_waiters_ = static_cast<std::uint32_t>(reply.other_waiters);
  claimed_at_ = clock_.now();
  bool woken = std::exchange(woken_, false);
  const bool turn = std::exchange(turn_, false);
  const bool for_wake = std::exchange(for_wake_, false);
  const double paid = std::exchange(paid_, 0);
  const bool found = !reply.claims.empty();
  if (found) {
    fruitless_ = 0;
  } else if (for_wake && fruitless_ < most_fruitless) {
    ++fruitless_;
  }
  if (still_wanted_) {
    if (found) charge(-paid);  // a claim that finds items is no idle poll
    examine(reply, woken);
    // One addition is often reported twice. A second claim would find nothing, and delay the next.
    if (reply.end != ClaimEnd::more && become_idle(reply)) woken = false;
  }
  // A wake-up during the claim makes an empty reply outdated. So the idle state ends before the
  // call of the handler, which may claim again.
  const bool again = idle_ && (woken || turn) && begin_wake(turn);
  been_back();
  for (const auto& parked : reply.parked) told_.on_quarantined(parked.item, parked.why);
  told_.on_claimed(std::move(reply));
  if (again) end_wake();
}

void ClaimingSource::stop_waiting() {
  still_wanted_ = false;
  admitted_ = false;
  activate();
}

void ClaimingSource::retire() {
  stop_waiting();
  queue().listen(false);
}

// ---- Idle lists

/// Returns whether a peek was sent that shows additions during the claim.
bool ClaimingSource::become_idle(const ClaimReply& reply) {
  idle_ = true;
  const Instant now = clock_.now();
  // A time from before the claim stays only if it is in the future and other hosts wait as well.
  if (wait_queue_ == WaitQueue::none || (free_at_ && *free_at_ <= now)) free_at_.reset();
  if (reply.next_free && (!free_at_ || now + *reply.next_free < *free_at_))
    free_at_ = now + *reply.next_free;
  queue().listen(true);
  const bool peeked = on_idle(!reply.claims.empty());
  sleep_on(poll_cost());
  return peeked;
}

void ClaimingSource::activate() {
  idle_ = false;
  if (std::exchange(peeking_, false)) paid_ = 0;  // the reply to the peek will be ignored
  wake_due_.reset();
  wake();
  on_active();
}

void ClaimingSource::claim_now() {
  const bool for_wake = wake_due_ && *wake_due_ <= clock_.now();
  if (for_wake) {
    woke_at_ = clock_.now();
    for_wake_ = true;
  }
  activate();
  told_.on_may_claim();
  if (for_wake) end_wake();
}

void ClaimingSource::begin_peek() {
  wake();
  peeking_ = true;
}

void ClaimingSource::expect_free(Instant at) {
  if (!idle_ || (free_at_ && *free_at_ <= at)) return;
  free_at_ = at;
  if (!peeking_) sleep({hint(), 1, poll_cost()});
}

/// Returns the earliest of three: the time at which an item may become free, the planned claim
/// after a wake-up, and the peek after a change. Instant::max() if there is none.
Instant ClaimingSource::first_hint() const {
  return std::min(
      {free_at_.value_or(Instant::max()), wake_due_.value_or(Instant::max()), look_due()});
}

std::optional<Duration> ClaimingSource::hint() const {
  const Instant first = first_hint();
  if (first == Instant::max()) return std::nullopt;
  return std::max(first - clock_.now(), Duration{0});
}

void ClaimingSource::poll_due(bool hinted, double paid) {
  paid_ = paid;
  if (wake_due_ && *wake_due_ <= clock_.now()) return claim_now();
  poll(hinted);
}

void ClaimingSource::poll(bool) {
  if (wake_due_) wake_due_ = clock_.now();  // the claim is also the planned one
  claim_now();
}

// ---- Wake-ups

void ClaimingSource::woken(bool turn) {
  if (in_flight_) {
    // A claim that still waits for admission finds the item anyway.
    if (!turn) return outdate_claim();
    turn_ = true;
  } else if (!idle_) {
    if (turn) on_unused_turn();
  } else if (begin_wake(turn)) {
    told_.on_may_claim();
    end_wake();
  }
}

/// Returns true if the list can claim now after a wake-up; the idle state has ended then. Otherwise
/// plans the claim for later: the last claim after a wake-up found nothing, or other hosts wait and
/// it is not this host's turn, or the claim must wait for the idle budget.
bool ClaimingSource::begin_wake(bool turn) {
  const Instant now = clock_.now();
  Instant at = now;
  if (fruitless_ > 0) {
    const int claims = std::min<int>(fruitless_, turn ? most_fruitless_turns : most_fruitless);
    at = std::max(at, woke_at_ + first_wake_pause * (1 << (2 * (claims - 1))));
  }
  if (wait_queue_ != WaitQueue::none && !turn) at += spread(wake_spread);
  const bool turn_now = turn && at <= now;
  if (wake_due_ && *wake_due_ <= at && !turn_now) return false;
  const std::optional<double> paid = at <= now ? pay_for_wake(turn) : std::nullopt;
  if (paid) {
    if (fruitless_ == 0) go_apart();
    activate();
    paid_ = *paid;
    woke_at_ = now;
    for_wake_ = true;
    return true;
  }
  wake_due_ = at;
  if (!peeking_) sleep({hint(), 1, 1});
  return false;
}

/// Called after a callback in which the handler could claim. If it did not, no slot is free.
void ClaimingSource::end_wake() {
  if (in_flight_) return;
  for_wake_ = false;
  on_unused_turn();
}

/// Called for all lists at once when Redis or a channel is available again.
void ClaimingSource::on_back() {
  wait_queue_ = WaitQueue::none;
  if (in_flight_) {
    outdate_claim();
  } else if (idle_) {
    come_back();
  }
}

void ClaimingSource::back_due() {
  if (std::exchange(claim_waits_, false)) {
    if (!still_wanted_) return on_claimed({});
    admitted_ = true;
    return send_claim(wanted_);
  }
  if (idle_ && !in_flight_) poll_after_reconnect();
  if (!in_flight_ && !peeking_) been_back();
}

}  // namespace w8y::source
