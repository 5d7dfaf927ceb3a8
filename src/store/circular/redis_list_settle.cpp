// RedisCircularList: settlements of runs.
#include <utility>

#include "store/breaker.hpp"
#include "store/circular/quarantine_note.hpp"
#include "store/circular/redis_list.hpp"
#include "store/failure_count.hpp"
#include "store/lock_value.hpp"
#include "store/run_record.hpp"

namespace w8y::store {

namespace {

/// Sets the new value of the lock.
struct NewLock {
  SettleCall& call;
  const Settlement& settlement;
  const std::string& host;
  std::string& parked;  ///< why it is quarantined
  void operator()(const SetFree&) const {}
  void operator()(const RestFor& rest) const {
    call.new_value = resting_lock(rest.after_failure);
    call.new_life = rest.time;
  }
  void operator()(const Quarantine& quarantine) const {
    call.new_value = quarantined_lock(call.run);
    const std::string reason = outcome_reason(settlement.outcome);
    const std::string outcome = outcome_name(settlement.outcome);
    QuarantineNote note{call.run, "w8yd on " + host, {}, settlement.ended};
    note.reason = failures_text(settlement.claim.attempt, reason.empty() ? outcome : reason);
    call.note = to_text(note);
    parked = note.reason;
    if (!call.breaker_limits.empty()) call.breaker += ms_text(quarantine.instead);
  }
};

}  // namespace

bool RedisCircularList::may_start(const Claim& claim) const {
  return work_ && work_->claimer.may_start(claim.run);
}

void RedisCircularList::settle(Settlement&& settlement) {
  const ListConfig& rule = *settlement.rule;
  SettleCall call;
  call.item = settlement.claim.item;
  call.run = settlement.claim.run;
  if (rule.keeps_records) call.breaker_limits = breaker_limits(rule);
  if (!call.breaker_limits.empty()) call.breaker = breaker_entry(settlement);
  std::string parked;
  std::visit(NewLock{call, settlement, session_->holder.host, parked}, settlement.rest);
  if (!parked.empty()) {
    auto tell = [this, item = DisplayItem(settlement.claim.item), parked] {
      handler_.on_quarantined(item, parked);
    };
    if (call.breaker_limits.empty()) {
      work().later.add(std::move(tell));
    } else {
      call.on_quarantined = [this, tell = std::move(tell)] { work().later.add(tell); };
    }
  }
  call.failures = "keep";
  if (rule.keeps_records) {
    call.failures = to_text(settlement.failures);
    call.history = history_of(rule, std::holds_alternative<Succeeded>(settlement.outcome));
    call.event = end_json(session_->holder.host, settlement);
    if (call.history.runs > 0) {
      call.more = history_members(settlement);
      if (call.for_good()) call.kept = kept_record(session_->holder.host, settlement, {});
    }
  }
  put_down(settlement.claim.run, std::move(call));
}

void RedisCircularList::hand_back(const Claim& claim) {
  SettleCall call;
  call.item = claim.item;
  call.run = claim.run;
  call.failures = "unstarted";
  put_down(claim.run, std::move(call));
}

void RedisCircularList::put_down(const RunId& run, SettleCall&& call) {
  auto ended = work_ ? work_->claimer.end(run) : std::nullopt;
  if (!ended) return;
  call.recorded = ended->renewed;
  call.lock = std::move(ended->lease.key);
  call.value = std::move(ended->lease.value);
  const bool freed = call.new_value.empty();
  settlements().add(keys_of(ended->store()), std::move(call), {ended->ends, ended->forget_at()},
                    std::move(ended->room), wait_of_end(freed));
}

/// Returns how long the settlement may wait for others. A waiter for an item or for a fleet slot
/// must not wait for the end of other runs.
CircularSettlements::Wait RedisCircularList::wait_of_end(bool freed) const {
  if (held() == 0) return CircularSettlements::Wait::none;
  const bool awaited = rule_->fleet_concurrency > 0 || (freed && all_taken_);
  return awaited ? CircularSettlements::Wait::turn : CircularSettlements::Wait::span;
}

void RedisCircularList::look_all_settled() {
  if (unsettled() == 0) handler_.on_all_settled();
}

void RedisCircularList::give_up(const RunId& run, const std::string& why) {
  work().later.add([this, run, why] { handler_.on_given_up(run, why); });
}

}  // namespace w8y::store
