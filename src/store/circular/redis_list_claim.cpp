// RedisCircularList: claims of items.
#include <algorithm>
#include <utility>

#include "store/circular/redis_list.hpp"
#include "store/rights.hpp"

namespace w8y::store {

namespace {

/// Bytes of items whose examination costs Redis about as much as one call.
constexpr std::size_t bytes_per_call = std::size_t{256} << 10;

/// Maximum bytes of items that a list may hold, per second of `key_expiry`. Each renewal sends the
/// item in the name of its lock, and must leave Redis capacity for other calls. One item is always
/// admitted.
constexpr std::size_t most_held_per_second = std::size_t{8} << 20;
/// Number of items at the right end that an edge scan examines (claim.lua).
constexpr std::int64_t seen_at_right = ScriptLocks::most_looked_at / 4;

ClaimEnd end_of(ClaimStatus status) {
  switch (status) {
    case ClaimStatus::empty:
      return ClaimEnd::empty;
    case ClaimStatus::paused:
      return ClaimEnd::paused;
    case ClaimStatus::full:
      return ClaimEnd::fleet_full;
    case ClaimStatus::none:
      return ClaimEnd::nothing_free;
    case ClaimStatus::breaker:
      return ClaimEnd::breaker;
    case ClaimStatus::ok:
    case ClaimStatus::more:
      break;
  }
  return ClaimEnd::more;
}

}  // namespace

void RedisCircularList::claim(std::size_t wanted, Scan scan, Manner manner) {
  waits_ = true;
  const auto left = scan == Scan::ends ? ClaimCall::only_ends : ClaimCall::new_pass;
  work().pass = std::make_unique<Pass>(
      Pass{rule_, store(), wanted, left, 0, std::nullopt, 0, manner == Manner::overdue, {}});
  this->scan();
}

void RedisCircularList::scan() {
  if (!work_->room.admit(std::min(longest_.value_or(0), max_item), may_hold())) return hold_back();
  if (longest_ && *longest_ >= RedisSession::large && !session_->may_call_large()) {
    work_->scan_later.set(session_->large_after(), [this] { scan(); });
    return;
  }
  // Settlements and claim are sent in one write, and the claim finds the freed items.
  if (work_->settlements) work_->settlements->send();
  ClaimCall call{work_->pass->store->keys(),
                 lock_value({}),
                 {},
                 work_->pass->rule->key_expiry,
                 work_->pass->rule->fleet_concurrency,
                 work_->pass->left,
                 held(),
                 hears_of_turn(),
                 work_->pass->overdue,
                 session_->circular.parked_note,
                 longest_,
                 newest_fence_,
                 work_->pass->rule->breaker.runs > 0};
  // More IDs than one call can use would only be sent for nothing.
  const std::size_t wanted = std::min(work_->pass->wanted, ScriptLocks::most_looked_at);
  call.runs.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    call.runs.push_back(session_->run_ids.next(session_->clock.wall()));
  ++work_->pass->calls;
  const RedisSession::LargeCall made = session_->large_call();
  // The call reads its arguments before it returns, so its IDs can be moved afterwards.
  const auto runs = std::make_shared<std::vector<RunId>>();
  session_->circular.locks.claim(call, [this, alive = alive(), runs, made](
                                           const ClaimResult* result, const StoreError& trouble) {
    if (!*alive) return;
    if (result != nullptr && result->bytes >= RedisSession::large) session_->large_answered(made);
    if (result == nullptr) {
      unavailable(*runs, trouble);
    } else {
      scanned(*runs, made.sent, *result);
    }
  });
  *runs = std::move(call.runs);  // they have been read, and the reply never comes from inside the
                                 // call
}

std::size_t RedisCircularList::may_hold() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(work_->pass->rule->key_expiry).count();
  return most_held_per_second * static_cast<std::size_t>(std::max(seconds, 1L));
}

/// Ends the claim because there is no room for long items. The room's callback starts the next
/// claim.
void RedisCircularList::hold_back() {
  leave_redis_line();
  PassReply reply;
  reply.end = ClaimEnd::fleet_full;
  reply.detail = "the memory for long items is in use; the next claim waits until runs end";
  answer_later(std::move(reply));
}

/// Calls the handler from the loop.
void RedisCircularList::answer_later(PassReply reply) {
  work_->scan_later.set(session_->clock.now(), [this, reply = std::move(reply)]() mutable {
    reply.calls = work_->pass->calls;
    reply.parked = std::move(work_->pass->parked);
    handler_.on_claimed(std::move(reply));
  });
}

void RedisCircularList::scanned(const std::vector<RunId>& runs, Instant sent,
                                const ClaimResult& result) {
  const bool first = work_->pass->calls == 1;
  // A call that examined many items counts as the number of calls that it replaces.
  const std::int64_t looked = work_->pass->left - result.left;
  if (work_->pass->left > 0 && looked > 0)
    work_->pass->calls += static_cast<std::size_t>(looked - 1) / ScriptLocks::most_looked_at;
  work_->pass->left = result.left;
  if (result.bytes > 0) longest_ = result.longest;
  // A call that examines long items keeps Redis as busy as many other calls.
  work_->pass->calls += result.bytes / bytes_per_call;
  if (work_->pass->parked.empty()) {
    work_->pass->parked = result.parked;
  } else {
    work_->pass->parked.insert(work_->pass->parked.end(), result.parked.begin(),
                               result.parked.end());
  }
  all_taken_ = result.status != ClaimStatus::ok;
  empty_ = result.status == ClaimStatus::empty;
  if (first) work_->pass->length = result.length;
  if (result.status == ClaimStatus::none) note_length(result);
  if (result.next_free && (!work_->pass->next_free || *result.next_free < *work_->pass->next_free))
    work_->pass->next_free = result.next_free;
  if (result.status == ClaimStatus::more && result.taken.empty()) return scan();

  PassReply reply;
  in_line_ = result.others.has_value();
  // leave_line() was called while this claim was in flight.
  if (!waits_) leave_redis_line();
  line_ = Line::none;
  if (result.others.value_or(0) > 0) {
    const auto hosts = static_cast<std::int64_t>(*result.others) + 1;
    const auto limit = static_cast<std::int64_t>(work_->pass->rule->fleet_concurrency);
    line_ = (limit > 0 && limit < hosts) || (result.length > 0 && result.length < hosts)
                ? Line::crowded
                : Line::others;
  }
  reply.line = line_;
  reply.others_in_line = result.others.value_or(0);
  reply.end = end_of(result.status);
  reply.next_free = work_->pass->next_free;
  reply.detail = result.detail;
  reply.calls = work_->pass->calls;
  reply.whole = result.left == 0;
  reply.parked = std::move(work_->pass->parked);
  reply.claims.reserve(result.taken.size());
  for (std::size_t i = 0; i < result.taken.size() && i < runs.size(); ++i)
    reply.claims.push_back(hold(runs[i], result.taken[i], sent));
  if (session_->clock.now() - sent > work_->pass->rule->key_expiry / 2) {
    // The reply came late (a slow connect, a stopped process) that by the local clock the leases
    // are half over or have ended. No run is started under them.
    for (const Claim& claim : reply.claims) hand_back(claim);
    reply.claims.clear();
    reply.end = ClaimEnd::unavailable;
    reply.detail = "the reply to a claim came too late";
  }
  work_->room.answered();
  handler_.on_claimed(std::move(reply));
}

/// Updates the known length. Items that were added during the scan, or beyond the part that an edge
/// scan examines, are detected by the length.
void RedisCircularList::note_length(const ClaimResult& result) {
  const std::int64_t added = result.length - length_;
  if (result.left == 0) {
    length_ = work_->pass->length;
  } else if (added >= 0 && added <= seen_at_right) {
    length_ = result.length;
  } else {
    // The next peek finds another length. If the old one was kept, a later addition could restore
    // it unseen.
    length_ = -1;
  }
}

void RedisCircularList::leave_line() {
  waits_ = false;
  if (work_) work_->room.leave();
  leave_redis_line();
}

void RedisCircularList::leave_redis_line() {
  if (!std::exchange(in_line_, false) || !session_->client.connected()) return;
  const ClaimCall call{
      keys(), lock_value({}), {}, rule_->key_expiry, 0, ClaimCall::new_pass, 0, true, false, {},
      {},     newest_fence_};
  session_->circular.locks.claim(call, [](const ClaimResult*, const StoreError&) {});
}

void RedisCircularList::look_for(const std::vector<RunId>& runs) {
  auto& lost = work_->lost_claims;
  if (!lost) lost = std::make_unique<LostClaims>(*session_, [this] { look_all_settled(); });
  lost->add(keys_of(work_->pass->store), lock_value({}), runs, work_->pass->rule->key_expiry);
  // The connection may be up: the error can occur in the middle of a scan.
  lost->look();
}

void RedisCircularList::unavailable(const std::vector<RunId>& runs, const StoreError& trouble) {
  if (trouble.maybe_done) look_for(runs);
  work_->room.answered();
  PassReply reply;
  reply.end = trouble.about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable;
  reply.detail = with_remedy(trouble.why, session_->user);
  reply.calls = work_->pass->calls;
  reply.parked = std::move(work_->pass->parked);
  handler_.on_claimed(std::move(reply));
}

/// Claims one item. If the reply is lost, the lock expires by itself.
void RedisCircularList::claim_item(const Item& item, Source::ItemClaimed then) {
  if (work_ && work_->settlements) work_->settlements->send();  // as in scan()
  const RunId run = session_->run_ids.next(session_->clock.wall());
  const ClaimItemCall call{keys(),       lock_value(run),   run,
                           item,         rule_->key_expiry, rule_->fleet_concurrency,
                           newest_fence_};
  session_->circular.locks.claim_item(
      call, [this, alive = alive(), run, item, rule = rule_, store = store(),
             sent = session_->clock.now(),
             then = std::move(then)](const ClaimItemResult* result, const StoreError& trouble) {
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
        if (claim.result == ItemClaim::Result::claimed)
          claim.claim = hold(run, {item, result->fence, result->failures}, sent, rule, store);
        if (claim.claim && session_->clock.now() - sent > rule->key_expiry / 2) {
          hand_back(*claim.claim);
          claim = {ItemClaim::Result::unavailable, {}, "the reply to a claim came too late"};
        }
        then(std::move(claim));
      });
}

Claim RedisCircularList::hold(const RunId& run, const Taken& taken, Instant sent,
                              const ListConfigPtr& rule,
                              const std::shared_ptr<CircularLeaseStore>& store) {
  Leases::Lease lease = session_->leases.hold(
      {run, store->keys().lock(taken.item), lock_value(run), store, rule->fleet_concurrency > 0,
       rule->on_lease_loss == OnLeaseLoss::keep_running, rule->key_expiry, sent},
      *this);
  Held held{store, std::move(lease), work().room.hold(taken.item.size())};
  work_->held.insert_or_assign(run, std::move(held));
  newest_fence_ = std::max(newest_fence_, taken.fence);
  return Claim{run, taken.item, {}, taken.fence, taken.failures + 1};
}

}  // namespace w8y::store
