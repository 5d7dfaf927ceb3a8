// Poller: runs a single item at an operator's request, even if it is delayed.
#include <utility>

#include "core/poller.hpp"

namespace w8y {

/// Returns an empty text if this host may try.
std::string Poller::why_not_item() const {
  if (draining_) return "the list is no longer in the config of this host, or the host is draining";
  if (quiet_) return "host is quiet: starting no new runs";
  if (!rule_->enabled) return "the list is disabled on this host";
  if (rule_->concurrency == 0) return "concurrency is 0 on this host";
  if (lacking_ || shortage().any())
    return "host cannot start its runs now" +
           (shortage().any() ? ": " + shortage().reason() : std::string());
  const std::size_t taken = work_ ? work_->places() : 0;
  if (taken >= limit())
    return "no free slot: " + std::to_string(taken) + " of " + std::to_string(limit()) +
           " runs of the list (concurrency)";
  return {};
}

/// Claims `item`. Independent of the claim in flight, which claims any free items.
void Poller::run_item(const Item& item, const RunItemDone& then) {
  Work& work = ready();  // the executor may limit the number of runs
  RunItemResult reply{RunItemResult::Result::not_on_this_host, {}, why_not_item()};
  // Waits for the reply to the claim in flight, which may leave a slot free.
  if (!reply.why.empty() && claim_out_ && may_claim_now() && room() > 0) {
    work.items_wanted.emplace_back(item, then);
    return;
  }
  if (reply.why.empty() && acquire(1) == 0) {
    reply.why = "no free slot: host_concurrency is reached";
    leave_queue();
  } else if (reply.why.empty()) {
    ++work.item_claims;
    if (source_->claim_item(
            item, [this, then](ItemClaim&& claim) { item_claimed(std::move(claim), then); }))
      return;
    --work.item_claims;
    release(1);
    reply = {RunItemResult::Result::refused, {}, "this command runs only items of circular lists"};
  }
  then(reply);
  if (reply.result == RunItemResult::Result::not_on_this_host) advance();
}

void Poller::item_claimed(ItemClaim&& claim, const RunItemDone& then) {
  Work& work = *work_;  // exists while the claim is in flight
  --work.item_claims;
  RunItemResult reply{RunItemResult::Result::refused, {}, std::move(claim.detail)};
  switch (claim.result) {
    case ItemClaim::Result::claimed: {
      if (!may_claim_now() || room() == 0) {
        source_->hand_back(*claim.claim);
        reply = {RunItemResult::Result::not_on_this_host, {}, why_not_item()};
        break;
      }
      ++count().claimed;
      ++taken_;
      reply = {RunItemResult::Result::started, claim.claim->run, {}};
      work.shortage.tried();
      work.runs.start(std::move(*claim.claim), rule_, work.executor);
      then(reply);
      return advance();
    }
    case ItemClaim::Result::not_listed:
      reply.why = "the item is not in the list";
      break;
    case ItemClaim::Result::running:
      reply.why = "the item runs already: " + reply.why;
      break;
    case ItemClaim::Result::quarantined:
      reply.why = "the item is quarantined; release it first";
      break;
    case ItemClaim::Result::paused:
      reply.why =
          "the list is paused" + (reply.why.empty() ? "" : ": " + reply.why) + "; resume it first";
      break;
    case ItemClaim::Result::fleet_full:
      reply.why = "no free slot: fleet_concurrency is reached";
      break;
    case ItemClaim::Result::refused:
      break;
    case ItemClaim::Result::unavailable:
      reply.result = RunItemResult::Result::not_on_this_host;
      break;
  }
  release(1);
  then(reply);
  advance();
}

}  // namespace w8y
