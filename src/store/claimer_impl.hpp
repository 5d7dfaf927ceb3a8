// Implementation of Claimer, for the file that instantiates it.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "redis/client.hpp"
#include "store/claimer.hpp"
#include "store/rights.hpp"

namespace w8y::store {

template <class Kind>
Claimer<Kind>::Claimer(RedisSession& session, ClaimMemory& memory, Handler& handler,
                       WorkQueueHandler& source)
    : session_(session),
      memory_(memory),
      handler_(handler),
      source_(source),
      room_timer_(session.timers),
      // A handler is never called from inside its own call.
      room_(session.item_room,
            [this] { room_timer_.set(session_.clock.now(), [this] { handler_.has_room(); }); }),
      later_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

template <class Kind>
Claimer<Kind>::~Claimer() {
  *alive_ = false;
}

template <class Kind>
void Claimer<Kind>::claim(ListConfigPtr rule, std::shared_ptr<Store> store, std::size_t wanted,
                          typename Kind::Scan scan) {
  open_.rule = std::move(rule);
  open_.store = std::move(store);
  open_.wanted = wanted;
  open_.scan = std::move(scan);
  open_.calls = 0;
  open_.parked.clear();
  send();
}

template <class Kind>
void Claimer<Kind>::send() {
  const std::size_t longest = memory_.longest.value_or(0);
  if (!room_.admit(std::min(longest, Kind::most_bytes), Kind::most_held(*open_.rule)))
    return reply_without_room();
  if (longest >= RedisSession::large && !session_.may_call_large())
    return later_.set(session_.large_after(), [this] { send(); });
  // More IDs than one call can use would only be sent for nothing.
  const std::size_t wanted = std::min(open_.wanted, Kind::most_claimed);
  open_.runs.clear();
  open_.runs.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    open_.runs.push_back(session_.run_ids.next(session_.clock.wall()));
  handler_.before_call(open_);
  ++open_.calls;
  ClaimWords words;
  Kind::write(session_, open_, memory_, words);
  const RedisSession::LargeCall made = session_.large_call();
  open_.sent = made.sent;
  session_.client.run(*Kind::script, words.keys, words.arguments,
                      [this, alive = alive_, made](const redis::Answer& answer) {
                        if (*alive) answered(answer, made);
                      });
}

/// Ends the claim. The callback of the room starts the next one.
template <class Kind>
void Claimer<Kind>::reply_without_room() {
  handler_.no_room();
  later_.set(session_.clock.now(), [this] {
    const std::string items = Kind::items;
    source_.on_claimed(make_reply(
        ClaimEnd::fleet_full,
        "the memory for long " + items + " is in use; the next claim waits until runs end"));
  });
}

template <class Kind>
void Claimer<Kind>::answered(const redis::Answer& answer, const RedisSession::LargeCall& made) {
  if (const auto trouble = trouble_of(answer)) {
    handler_.on_error(answer);
    return failed(*trouble);
  }
  Result result;
  Kind::read(answer.reply, open_, result);
  if (result.bytes >= RedisSession::large) session_.large_answered(made);
  if (result.bytes > 0) memory_.longest = result.longest;
  std::move(result.parked.begin(), result.parked.end(), std::back_inserter(open_.parked));
  handler_.on_result(open_, result);
  if (result.more && result.taken.empty()) return send();

  ClaimReply reply = make_reply(result.end, std::move(result.detail));
  reply.next_free = result.next_free;
  handler_.complete(open_, result, reply);
  const std::size_t claimed = std::min(result.taken.size(), open_.runs.size());
  reply.claims.reserve(claimed);
  for (std::size_t i = 0; i < claimed; ++i)
    reply.claims.push_back(hold(open_, open_.runs[i], std::move(result.taken[i])));
  if (is_late(open_)) {
    // By the local clock the leases are half over or have ended (a slow connect, a stopped
    // process).
    for (const Claim& claim : reply.claims) handler_.hand_back(claim);
    reply.claims.clear();
    reply.end = ClaimEnd::unavailable;
    reply.detail = too_late;
  }
  room_.answered();
  source_.on_claimed(std::move(reply));
}

template <class Kind>
void Claimer<Kind>::failed(const StoreError& trouble) {
  if (trouble.maybe_done)
    session_.in_doubt_claims.undo(Kind::undo(session_, open_),
                                  session_.clock.now() + open_.rule->key_expiry);
  room_.answered();
  source_.on_claimed(
      make_reply(trouble.about_keys() ? ClaimEnd::refused : ClaimEnd::unavailable,
                 Kind::reason(with_remedy(trouble.why, session_.user), *open_.rule)));
}

template <class Kind>
ClaimReply Claimer<Kind>::make_reply(ClaimEnd end, std::string detail) {
  ClaimReply reply;
  reply.end = end;
  reply.detail = std::move(detail);
  reply.calls = open_.calls;
  reply.parked = std::exchange(open_.parked, {});
  return reply;
}

template <class Kind>
Claim Claimer<Kind>::hold(const Terms& terms, const RunId& run, Claimed&& item) {
  const ListConfig& rule = *terms.rule;
  LeaseTerms lease;
  lease.run = run;
  lease.store = terms.store;
  lease.fleet = rule.fleet_concurrency > 0;
  lease.retake = rule.on_lease_loss == OnLeaseLoss::keep_running;
  lease.expiry = rule.key_expiry;
  lease.claimed = terms.sent;
  Kind::set_lock(lease, terms.store->keys(), session_.holder, item);
  held_.insert_or_assign(run, Held{session_.leases.hold(std::move(lease), handler_),
                                   room_.hold(Kind::bytes_of(item)), Kind::note(item)});
  memory_.newest_fence = std::max(memory_.newest_fence, item.fence);
  Call call = Kind::call(item);
  return Claim{run, std::move(item.item), std::move(call), item.fence, item.failures + 1};
}

template <class Kind>
std::optional<Claim> Claimer<Kind>::hold_claimed(const Terms& terms, const RunId& run,
                                                 Claimed&& item) {
  Claim claim = hold(terms, run, std::move(item));
  if (!is_late(terms)) return claim;
  handler_.hand_back(claim);
  return std::nullopt;
}

template <class Kind>
bool Claimer<Kind>::may_start(const RunId& run) const {
  const auto held = held_.find(run);
  return held != held_.end() && !held->second.lease.ends_soon();
}

template <class Kind>
std::optional<typename Claimer<Kind>::Ended> Claimer<Kind>::end(const RunId& run) {
  const auto found = held_.find(run);
  if (found == held_.end()) return std::nullopt;
  Held& held = found->second;
  Ended ended{
      {}, held.lease.ends(), held.lease.was_renewed(), std::move(held.room), std::move(held.note)};
  ended.lease = held.lease.end();
  held_.erase(found);
  return ended;
}

}  // namespace w8y::store
