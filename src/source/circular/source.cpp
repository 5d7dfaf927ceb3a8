#include "source/circular/source.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "source/circular/disposition.hpp"

namespace w8y::source {

CircularSource::CircularSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                               const MakeList& make)
    : ClaimingSource(clock, idle, handler), list_(make(*this)) {}

CircularSource::~CircularSource() = default;

// ---- Claims

void CircularSource::send_claim(std::size_t wanted) {
  if (clock_.now() >= whole_at_ && !owes()) scarce_ = false;
  const bool whole = !scarce_ || (overdue_ && owes_whole_ && !searches_);
  list_->claim(wanted, whole ? store::Scan::whole : store::Scan::ends,
               overdue_ ? store::Manner::overdue : store::Manner::in_turn);
}

void CircularSource::prepare(ClaimReply& reply) {
  if (!reply.claims.empty()) in_vain_ = 0;
  held_ += static_cast<std::uint32_t>(reply.claims.size());
}

bool CircularSource::claim_item(const Item& item, ItemClaimed then) {
  list_->claim_item(item, [this, then = std::move(then)](ItemClaim&& claim) {
    if (claim.claim) ++held_;
    then(std::move(claim));
  });
  return true;
}

void CircularSource::stop_waiting() {
  ClaimingSource::stop_waiting();
  list_->leave_queue();
}

// ---- Settlements

void CircularSource::settle(EndedRun&& run) {
  const Disposition disposition = dispose_of(run);
  const bool freed = std::holds_alternative<store::SetFree>(disposition.rest);
  const auto* rests = std::get_if<store::RestFor>(&disposition.rest);
  const std::optional<Duration> free_in = rests ? std::optional(rests->time) : std::nullopt;
  --held_;
  list_->settle({std::move(run), disposition.rest, disposition.failures});
  if (freed) return note_freed();
  // While the breaker is open, no poll is needed at the end of the delay: the next probe is later,
  // or another host probes.
  if (free_in && last_end() != ClaimEnd::breaker)
    expect_free(clock_.now() + *free_in + settled_within);
  // Any settlement releases a fleet slot. The end of a probe changes the time of the next one.
  if (last_end() == ClaimEnd::fleet_full || last_end() == ClaimEnd::breaker) follow_end();
}

void CircularSource::hand_back(const Claim& claim) {
  --held_;
  list_->hand_back(claim);
  // The item need not be at an edge of the list.
  owes_whole_ = true;
  outdate_claim();  // as in note_freed()
}

// ---- Extent of the next scan

/// Chooses the extent of the next scan. The next scans cover only the edges of the list after a
/// full scan that left no free item, or that needed many calls to find enough items. A full scan
/// follows if the edges have items, or if an item has become free elsewhere. The full scan starts
/// when the idle budget covers it.
void CircularSource::examine(const ClaimReply& reply, bool woken) {
  if (tells_addition_ && !reply.claims.empty()) {
    added_at_ = clock_.now();
    looks_in_vain_ = 0;
  }
  tells_addition_ = false;
  // A peek does not check all reasons for which a claim leaves an item.
  if (!std::exchange(searches_, false) || !reply.claims.empty()) {
    searches_in_vain_ = 0;
  } else if (++searches_in_vain_ >= most_searches) {
    searches_in_vain_ = 0;
    owes_whole_ = true;
  }
  const bool satisfied = reply.end == ClaimEnd::more;
  if (satisfied && !scarce_ && is_long(reply.calls)) {
    scarce_ = true;
    pass_calls_ = static_cast<std::uint32_t>(reply.calls);
    whole_at_ = Instant::max();
  } else if (!satisfied && reply.whole) {
    scarce_ = reply.end == ClaimEnd::nothing_free;
    pass_calls_ = static_cast<std::uint32_t>(reply.calls);
    // A wake-up during the claim may concern an item in a part that was already scanned.
    owes_whole_ = woken;
    whole_at_ = Instant::max();
  } else if (!satisfied && !owes_whole_) {
    whole_at_ = Instant::max();
  }
  if (scarce_ && (satisfied || owes_whole_) && whole_at_ == Instant::max())
    whole_at_ = clock_.now() + time_for(static_cast<double>(pass_calls_));
  if (satisfied) return;
  pay_for(reply);
  if (reply.whole) looked_at_ = polled_at_ = clock_.now();
}

/// Charges the idle budget for the calls of a fruitless claim or of a full scan. One call of a
/// fruitless claim was charged before, or the claim followed a settlement of this host. A full scan
/// that found items has `short_pass` calls free. A claim that found items at an end of the list is
/// no idle poll, even if each claim must read a long item there.
void CircularSource::pay_for(const ClaimReply& reply) {
  const auto calls = static_cast<double>(reply.calls);
  const bool found = !reply.claims.empty();
  if (found && scarce_ && !reply.whole) return;
  if (const double owed = calls - (found ? short_pass : 1); owed > 0) owe(owed);
}

/// Plans the scan after a run of this host has freed its item. If the list is short, or this host
/// holds most of it, a full scan finds the item at once. Otherwise an edge scan usually does:
/// claimed items are at the right end.
void CircularSource::note_freed() {
  owes_whole_ = true;
  outdate_claim();  // the item may have been locked when the claim examined it
  const bool ours = pass_calls_ * items_per_call < std::size_t{held_} * 2;
  if (!is_long(pass_calls_) || ours) scarce_ = false;
  follow_end();
}

/// Ends the idle state after a settlement of this host, so that the list claims. If the wait queue
/// is crowded, the list stays idle: the next waiter gets the turn, or this host if no other host
/// waits any more.
void CircularSource::follow_end() {
  if (is_idle() && wait_queue() != WaitQueue::crowded) activate();
}

// ---- Idle list

/// Charges the idle budget for a claim after a wake-up. A claim by the next waiter does not wait
/// for the budget, because its turn lasts only 250 ms.
std::optional<double> CircularSource::pay_for_wake(bool turn) {
  if (!turn) return pay() ? std::optional<double>(1) : std::nullopt;
  charge(1);
  return 1;
}

bool CircularSource::on_idle(bool) {
  look_due_ = Instant::max();
  if (owes()) many_due_ = std::min(many_due_, clock_.now() + look_at_least);
  planned_ = After::none;
  const bool untracked = !list_->hears() && list_->can_hear();
  if (untracked) plan_look_after_change();
  return false;
}

void CircularSource::on_changed() {
  if (!is_idle() || planned_ != After::none) return;
  plan_look_after_change();
  plan_look();
}

/// Plans a peek that follows a change, or that tracks the list again after a claim.
void CircularSource::plan_look_after_change() {
  const Instant now = clock_.now();
  const bool waits = wait_queue() != WaitQueue::none;
  planned_ = !waits && now - added_at_ < additions_last ? After::addition : After::change;
  const bool soon = planned_ == After::addition || (!waits && has_spare());
  const Duration first = soon ? change_pause : slow_change_pause;
  const int in_vain = planned_ == After::addition ? 0 : std::min<int>(looks_in_vain_, 2);
  Duration pause = std::min(first * (1 << (3 * in_vain)), long_change_pause);
  if (owes_whole_) pause = std::max(pause, owing_change_pause);
  if (waits) pause = pause * patience() / 2 + spread(pause * patience());
  const Instant at = looked_at_ + pause;
  look_due_ = at <= now ? now : at + (first - at.time_since_epoch() % first) % first;
}

void CircularSource::on_active() {
  if (std::exchange(looks_for_back_, false)) been_back();
  list_->may_stop_listening();
}

void CircularSource::on_wake() {
  owes_whole_ = true;
  tells_addition_ = true;
  woken();
}

void CircularSource::on_back() {
  owes_whole_ = true;
  ClaimingSource::on_back();
}

/// Empty lists peek, since their peeks share commands. Other lists claim.
void CircularSource::poll_after_reconnect() {
  looks_for_back_ = last_end() == ClaimEnd::empty;
  looks_for_back_ ? look() : claim_now();
}

void CircularSource::poll(bool hinted) {
  // While the list has a deficit, its peeks use only the surplus of the budget.
  if (many_due_ <= clock_.now() && owes() && !has_spare()) {
    many_due_ = clock_.now() + IdlePolls::shortest_pause;
    charge(-std::exchange(paid_, 0));
    return plan_look();
  }
  // Without this check, frequent wake-ups and ends of delays could postpone the peek without end.
  const bool overdue = clock_.now() - polled_at_ > look_at_least || look_due() <= clock_.now();
  if ((!hinted || overdue) && may_look() && !renews_place()) return look();
  hinted ? claim_now() : claim_overdue();
}

/// Returns whether a poll may peek: the last claim found the list empty or without a free item, and
/// no full scan for a freed item is due, or it waits for the idle budget. A planned peek after a
/// change does not wait for the full scan, which may be a second away. The peeks of such lists
/// share commands.
bool CircularSource::may_look() const {
  return (!owes_whole_ || owes() || planned_ != After::none) &&
         (last_end() == ClaimEnd::empty || last_end() == ClaimEnd::nothing_free);
}

void CircularSource::look() {
  begin_peek();
  const Instant now = clock_.now();
  const After planned = std::exchange(planned_, After::none);
  looked_at_ = now;
  const Instant due = std::exchange(look_due_, Instant::max());
  const bool many = looks_at_many();
  if (many || planned == After::none) looks_in_vain_ = 0;
  sent_ = many || due > now + long_change_pause     ? After::none
          : planned == After::addition && due > now ? After::change
                                                    : planned;
  if (sent_ != After::addition) polled_at_ = now;
  list_->look(many                   ? store::Look::many
              : sent_ == After::none ? store::Look::items
                                     : look_after_change());
}

/// Returns whether the peek examines many items. Without a surplus of the idle budget, a later peek
/// does.
bool CircularSource::looks_at_many() {
  if (many_due_ > clock_.now()) return false;
  const bool spare = has_spare();
  many_due_ = spare ? Instant::max() : clock_.now() + IdlePolls::shortest_pause;
  return spare;
}

/// Returns the part of the list that a peek after a change examines: the end if the idle budget has
/// a surplus, otherwise the length. After `most_after_change` fruitless peeks, it is the next
/// items, except soon after an addition.
store::Look CircularSource::look_after_change() {
  if (sent_ == After::addition) return has_spare() ? store::Look::end : store::Look::length;
  if (looks_in_vain_ >= most_after_change) return store::Look::items;
  if (!pay_from_spare()) return store::Look::length;
  paid_ += 1;
  return store::Look::end;
}

void CircularSource::on_looked(const store::LookReply& reply) {
  if (!end_peek()) return;
  // After a reconnect, the admission limits the peeks, so they are no idle polls. Fewer of them
  // share a command than later, so their cost does not predict the cost of the next peek.
  const bool for_back = std::exchange(looks_for_back_, false);
  const After sent = std::exchange(sent_, After::none);
  const double paid = std::exchange(paid_, 0);
  if (reply.worth_it) {
    looks_in_vain_ = 0;
    tells_addition_ = tells_addition_ || sent != After::none;
  } else if (sent == After::change && looks_in_vain_++ >= most_after_change) {
    looks_in_vain_ = after_items;
  } else if (sent == After::addition && looks_in_vain_++ >= most_after_addition) {
    added_at_ = Instant{};
    looks_in_vain_ = after_items;
  }
  if (sent == After::addition) {
    charge_pass(std::max(reply.cost - usual_cost, 0.0) - paid);
  } else if (!for_back) {
    charge_pass(reply.cost - paid);
  }
  if (many_due_ == Instant::max() && reply.next > Duration{0}) {
    // All hosts of the fleet together peek as often as two of them would.
    const auto factor = std::max<std::size_t>(patience(), (hosts() + 1) / 2);
    many_due_ = looked_at_ + reply.next * static_cast<Duration::rep>(factor);
  }
  if (reply.worth_it) {
    owes_whole_ = owes_whole_ || !reply.located;
    searches_ = reply.located;
    charge(1);
    paid_ = 1;  // for the claim
    claim_overdue();
    if (!in_flight()) been_back();
    return;
  }
  been_back();
  if (last_end() == ClaimEnd::empty) owes_whole_ = false;
  sleep_on(for_back || sent != After::none ? poll_cost() : reply.cost);
}

/// Claims regardless of the wait queue if other hosts wait. A waiter with a turn claims at once, so
/// if a peek still finds an item free, no waiter is about to claim it.
void CircularSource::claim_overdue() {
  overdue_ = wait_queue() != WaitQueue::none;
  claim_now();
  overdue_ = false;
}

/// Returns whether the last claim was long ago, so that the host may lose its position in the wait
/// queue. Only a claim renews the position and returns the number of other waiters.
bool CircularSource::long_waiting() const {
  if (wait_queue() == WaitQueue::none) return false;
  const auto more = static_cast<Duration::rep>(std::max(other_waiters(), 1U) - 1);
  const Duration pause = (least_renewal + more * more_renewal) * (1 << in_vain_);
  return clock_.now() - claimed_at() >= std::min(pause, most_renewal);
}

/// Returns whether a claim replaces the peek, to renew the position in the wait queue. The claim is
/// charged in advance, and a shared peek is not. Among a thousand waiting lists, few thus claim at
/// a time, and the others peek.
bool CircularSource::renews_place() {
  if (!long_waiting() || (paid_ == 0 && !pay_from_spare())) return false;
  paid_ = 1;
  if (in_vain_ < most_in_vain) ++in_vain_;
  return true;
}

}  // namespace w8y::source
