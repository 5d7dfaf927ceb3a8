#include "source/circular/source.hpp"

#include <utility>
#include <variant>

#include "source/circular/disposition.hpp"

namespace w8y::source {

CircularSource::CircularSource(const Clock& clock, IdlePolls& idle, SourceHandler& handler,
                               const MakeList& make)
    : ClaimRelay(handler), IdlePolls::Sleeper(idle), clock_(clock), list_(make(*this)) {}

CircularSource::~CircularSource() = default;

void CircularSource::use(ListConfigPtr rule) {
  rule_ = std::move(rule);
  list_->use(rule_);
  let_in_ = false;
  end_rest();
}

// ---- Claims

/// Starts a claim. All lists of a host start, get a new config or connection, or resume at the same
/// time, so their first claims wait for admission.
void CircularSource::claim(std::size_t wanted) {
  claim_out_ = true;
  still_wanted_ = true;
  wanted_ = wanted;
  if (!let_in_) let_in_ = come_in();
  claim_waits_ = !let_in_;  // see back_due()
  if (let_in_) send_claim();
}

void CircularSource::send_claim() {
  if (whole_at_ && clock_.now() >= *whole_at_ && !owes()) scarce_ = false;
  list_->claim(wanted_, scarce_ && !overdue_ ? store::Scan::ends : store::Scan::whole,
               overdue_ ? store::Manner::overdue : store::Manner::in_turn);
}

void CircularSource::on_claimed(store::PassReply&& reply) {
  claim_out_ = false;
  last_ = reply.end;
  const bool woken = std::exchange(woken_, false);
  const bool turn = std::exchange(turn_, false);
  const double paid = std::exchange(paid_, 0);
  line_ = reply.line;
  claimed_at_ = clock_.now();
  others_in_line_ = static_cast<std::uint32_t>(reply.others_in_line);
  note_wake(!reply.claims.empty());
  if (!reply.claims.empty()) in_vain_ = 0;
  held_ += reply.claims.size();
  if (still_wanted_) {
    note_pass(reply, woken);
    if (!reply.claims.empty()) charge(-paid);  // a claim that finds items is no idle poll
    if (reply.end != ClaimEnd::more) rest(reply);
  }
  // A wake-up during the claim makes an empty result outdated. So the idle state ends
  // before the handler is called, and the handler may claim again.
  const bool again = resting_ && (woken || turn) && begin_wake(turn ? Duration{0} : wake_spread);
  been_back();
  for (const auto& parked : reply.parked) handler_.on_quarantined(parked.item, parked.why);
  handler_.on_claimed(std::move(reply));
  if (again) end_wake();
}

bool CircularSource::claim_item(const Item& item, ItemClaimed then) {
  list_->claim_item(item, [this, then = std::move(then)](ItemClaim&& claim) {
    if (claim.claim) ++held_;
    then(std::move(claim));
  });
  return true;
}

void CircularSource::stop_waiting() {
  still_wanted_ = false;
  let_in_ = false;
  end_rest();
  list_->leave_line();
}

void CircularSource::retire() {
  stop_waiting();
  list_->listen(false);
}

// ---- Settlements

void CircularSource::settle(EndedRun&& run) {
  const Disposition disposition = dispose_of(run);
  const bool freed = std::holds_alternative<store::SetFree>(disposition.rest);
  const auto* rests = std::get_if<store::RestFor>(&disposition.rest);
  const std::optional<Duration> free_in = rests ? std::optional(rests->time) : std::nullopt;
  --held_;
  list_->settle({std::move(run), disposition.rest, disposition.failures});
  if (freed) {
    note_freed();
  } else {
    if (free_in) expect_free(*free_in);
    // Any settlement releases a fleet slot. The end of a probe changes the time of the next one.
    if (last_ == ClaimEnd::fleet_full || last_ == ClaimEnd::breaker) follow_end();
  }
}

void CircularSource::hand_back(const Claim& claim) {
  --held_;
  list_->hand_back(claim);
  // The item need not be at an edge of the list.
  owes_whole_ = true;
  if (claim_out_) woken_ = true;  // as in note_freed()
}

// ---- Extent of the next scan

/// Chooses the extent of the next scan. After a scan of many calls, the next scans cover only the
/// edges of the list. A full scan follows if the edges have items, or if an item has become free
/// elsewhere. The full scan starts when the idle budget covers it.
void CircularSource::note_pass(const store::PassReply& reply, bool woken) {
  const bool satisfied = reply.end == ClaimEnd::more;
  if (satisfied && !scarce_ && is_long(reply.calls)) {
    scarce_ = true;
    pass_calls_ = static_cast<std::uint32_t>(reply.calls);
    whole_at_.reset();
  } else if (!satisfied && reply.whole) {
    scarce_ = reply.end == ClaimEnd::nothing_free;
    pass_calls_ = static_cast<std::uint32_t>(reply.calls);
    // A wake-up during the claim may concern an item in a part that was already scanned.
    owes_whole_ = woken;
    whole_at_.reset();
  } else if (!satisfied && !owes_whole_) {
    whole_at_.reset();
  }
  if (scarce_ && (satisfied || owes_whole_) && !whole_at_)
    whole_at_ = clock_.now() + time_for(static_cast<double>(pass_calls_));
}

/// Plans the scan after a run of this host has freed its item. If the list is short, or this host
/// holds most of it, a full scan finds the item at once. Otherwise an edge scan usually does:
/// claimed items are at the right end.
void CircularSource::note_freed() {
  owes_whole_ = true;
  if (claim_out_) woken_ = true;  // the item may have been locked when the claim examined it
  const bool ours = pass_calls_ * items_per_call < held_ * 2;
  if (!is_long(pass_calls_) || ours) scarce_ = false;
  follow_end();
}

/// Ends the idle state after a settlement of this host, so that it claims. If the wait queue is
/// crowded, it stays idle: the turn goes to a waiter, or to this host if there is none.
void CircularSource::follow_end() {
  if (resting_ && line_ != store::Line::crowded) end_rest();
}

}  // namespace w8y::source
