// RedisCircularList: claims of items.
#include <utility>

#include "store/circular/redis_list.hpp"
#include "store/rights.hpp"

namespace w8y::store {

void RedisCircularList::claim(std::size_t wanted, Scan scan, Manner manner) {
  waits_ = true;
  CircularScan all;
  std::string near = std::exchange(work().near, {});
  if (scan == Scan::ends) {
    all.left = CircularScan::ends;
    all.near = std::move(near);
  }
  all.overdue = manner == Manner::overdue;
  const auto& lease_store = store();
  work_->claimer.claim(rule_, lease_store, wanted, all);
}

void RedisCircularList::before_call(CircularClaims::Open& open) {
  // Settlements and claim are sent in one write, and the claim finds the freed items.
  if (work_->settlements) work_->settlements->send();
  open.scan.held = held();
  open.scan.hears = hears_of_turn();
}

void RedisCircularList::on_result(CircularClaims::Open& open, ScanResult& result) {
  // Without items to examine, no permission was checked.
  ScriptLocks& locks = session_->circular.locks;
  const bool examined = result.end == ClaimEnd::more || result.end == ClaimEnd::nothing_free;
  locks.set_proven((locks.proven() || examined) && result.refused.empty());
  CircularScan& scan = open.scan;
  const bool first = open.calls == 1;
  if (first) scan.length = result.length;
  // A call that examined many items counts as the number of calls that it replaces.
  const std::int64_t looked = scan.left - result.left;
  if (scan.left > 0 && looked > 0)
    open.calls += static_cast<std::size_t>(looked - 1) / ScriptLocks::most_looked_at;
  scan.left = result.left;
  scan.near.clear();  // a further call scans the rest of the list
  // A call that examines long items keeps Redis as busy as many other calls.
  open.calls += result.bytes / ScriptLocks::bytes_per_call;
  all_taken_ = result.more || result.end != ClaimEnd::more;
  empty_ = result.end == ClaimEnd::empty;
  // If all free items are for other waiters, the call has scanned no items.
  const bool examined_any = result.left < result.length;
  if (result.end == ClaimEnd::nothing_free && examined_any) note_length(scan, result);
  // A claim rotates the list, and a scan usually does, except if one call examines the whole list.
  if (!result.taken.empty() || !first || (result.left > 0 && examined_any)) untrack();
  if (result.next_free && (!scan.next_free || *result.next_free < *scan.next_free))
    scan.next_free = result.next_free;
}

void RedisCircularList::complete(const CircularClaims::Open& open, const ScanResult& result,
                                 ClaimReply& reply) {
  waiting_ = result.others.has_value();
  // leave_queue() was called while this claim was in flight.
  if (!waits_) leave_redis_queue();
  wait_queue_ = WaitQueue::none;
  if (result.others.value_or(0) > 0) {
    const auto hosts = static_cast<std::int64_t>(*result.others) + 1;
    const auto limit = static_cast<std::int64_t>(open.rule->fleet_concurrency);
    wait_queue_ = (limit > 0 && limit < hosts) || (result.length > 0 && result.length < hosts)
                      ? WaitQueue::crowded
                      : WaitQueue::others;
  }
  reply.wait_queue = wait_queue_;
  reply.other_waiters = result.others.value_or(0);
  reply.next_free = open.scan.next_free;
  reply.whole = result.left == 0;
}

/// Updates the known length. Items that were added during the scan, or beyond the part that an edge
/// scan examines, are detected by the length.
void RedisCircularList::note_length(const CircularScan& scan, const ScanResult& result) {
  const std::int64_t added = result.length - length_;
  if (result.left == 0) {
    length_ = scan.length;
  } else if (added >= 0 && added <= ScriptLocks::seen_at_right) {
    length_ = result.length;
  } else {
    // The next peek finds another length. If the old one was kept, a later addition could restore
    // it unseen.
    length_ = -1;
  }
}

void RedisCircularList::leave_queue() {
  waits_ = false;
  if (work_) work_->claimer.stop_waiting();
  leave_redis_queue();
}

void RedisCircularList::leave_redis_queue() {
  if (!std::exchange(waiting_, false) || !session_->client.connected()) return;
  CircularClaims::Open leave;
  leave.rule = rule_;
  leave.store = store();
  ClaimWords words;
  CircularClaims::write(*session_, leave, memory_, words);
  session_->client.run(*CircularClaims::script, words.keys, words.arguments,
                       [&locks = session_->circular.locks](const redis::Answer& answer) {
                         if (trouble_of(answer)) locks.note_refusal(answer);
                       });
}

/// Claims one item. If the reply is lost, the lock expires by itself.
void RedisCircularList::claim_item(const Item& item, Source::ItemClaimed then) {
  const CircularClaimer::Terms terms{rule_, store(), session_->clock.now()};
  if (work_->settlements) work_->settlements->send();  // as in before_call()
  const RunId run = session_->run_ids.next(session_->clock.wall());
  const ClaimItemCall call{keys(),
                           lock_value(run),
                           run,
                           item,
                           rule_->key_expiry,
                           rule_->fleet_concurrency,
                           memory_.newest_fence};
  session_->circular.locks.claim_item(
      call, [this, alive = alive(), run, item, terms, then = std::move(then)](
                const ClaimItemResult* result, const StoreError& trouble) {
        if (!*alive) return;
        ItemClaim claim;
        if (result == nullptr) {
          claim.result =
              trouble.about_keys() ? ItemClaim::Result::refused : ItemClaim::Result::unavailable;
          claim.detail = with_remedy(trouble.why, session_->user);
        } else {
          claim.result = result->result;
          claim.detail = result->detail;
        }
        if (claim.result == ItemClaim::Result::claimed) {
          claim.claim =
              work().claimer.hold_claimed(terms, run, {item, result->fence, result->failures});
          if (!claim.claim) {
            claim.result = ItemClaim::Result::unavailable;
            claim.detail = CircularClaimer::too_late;
          }
        }
        then(std::move(claim));
      });
}

}  // namespace w8y::store
