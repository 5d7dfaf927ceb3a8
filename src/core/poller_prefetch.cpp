// Poller: claims items before slots for them are free, so that no slot is empty between two runs.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/poller.hpp"

namespace w8y {

Poller::Prefetch& Poller::keep_ahead() {
  if (!work().ahead) work_->ahead = std::make_unique<Prefetch>(host_.timers);
  return *work_->ahead;
}

void Poller::record_run_time(Duration took) {
  std::optional<Duration>& mean = keep_ahead().mean_run;
  mean = mean ? (*mean * 7 + took) / 8 : took;
}

PrefetchCount Poller::prefetch_count(std::size_t free) const {
  // If slots are limited on this host or in the fleet, a free slot goes to the list or host with
  // the longest wait, not to prefetched items.
  const bool allowed =
      ahead_allowed_ && budget_ == 0 && host_.slots.limit() == 0 && rule_->fleet_concurrency == 0;
  if (!allowed || !work_ || !work_->ahead || !work_->ahead->mean_run) return {};
  return source_->prefetch_count(
      {*work_->ahead->mean_run, claim_took_, limit(), free, work_->placed});
}

void Poller::start_ahead() {
  if (ahead() == 0) return;
  Work& work = *work_;
  std::vector<Claim>& claims = work.ahead->claims;
  bool moved = false;
  while (!claims.empty()) {
    // Checked here as well: after a stall, the timer of the lease may not have run yet.
    if (!source_->may_start(claims.back())) {
      hand_back_ahead(RunId(claims.back().run));
      continue;
    }
    if (room() == 0 || acquire(1) == 0) break;
    Claim claim = std::move(claims.back());
    claims.pop_back();
    moved = true;
    work.shortage.tried();
    work.runs.start(std::move(claim), rule_, work.executor);
  }
  // A timer would be too slow to set for every run. So each run moves `until`, and the timer checks
  // `until` when it is due.
  if (moved) work.ahead->until = host_.clock.now() + ahead_timeout;
  if (!claims.empty() && !work.ahead->timer.pending()) watch_ahead();
}

void Poller::watch_ahead() {
  Prefetch& kept = *work_->ahead;
  if (!source_->frees_at_once()) return;
  kept.timer.set(kept.until, [this, &kept] {
    if (kept.claims.empty()) return;
    if (host_.clock.now() < kept.until) return watch_ahead();
    kept.mean_run = ahead_timeout;  // runs take longer than before
    hand_back_ahead();
  });
}

bool Poller::hand_back_ahead(const RunId& run) {
  if (ahead() == 0) return false;
  std::vector<Claim>& claims = work_->ahead->claims;
  const auto found = std::find_if(claims.begin(), claims.end(),
                                  [&](const Claim& claim) { return claim.run == run; });
  if (found == claims.end()) return false;
  --count().claimed;
  source_->hand_back(*found);
  claims.erase(found);
  return true;
}

void Poller::hand_back_ahead() {
  if (!work_ || !work_->ahead) return;
  work_->ahead->timer.cancel();
  std::vector<Claim>& claims = work_->ahead->claims;
  if (claims.empty()) return;
  count().claimed -= claims.size();
  for (auto claim = claims.rbegin(); claim != claims.rend(); ++claim) source_->hand_back(*claim);
  claims.clear();
}

/// A reload may have lowered the limit since the claim was sent.
void Poller::hand_back_beyond(std::vector<Claim>& claims, std::size_t places) {
  const std::size_t placed = std::min(places, claims.size());
  if (placed <= room()) return;
  const auto first = claims.begin() + static_cast<std::ptrdiff_t>(room());
  const auto last = claims.begin() + static_cast<std::ptrdiff_t>(placed);
  for (auto claim = first; claim != last; ++claim) source_->hand_back(*claim);
  claims.erase(first, last);
}

/// Hands back the claims that may not wait for a slot: fewer runs than expected have ended.
void Poller::hand_back_ahead_beyond() {
  while (ahead() > 0 && ahead() > work_->ahead->most)
    hand_back_ahead(RunId(work_->ahead->claims.front().run));
}

void Poller::keep_ahead(std::vector<Claim>& claims, std::size_t from) {
  if (from >= claims.size()) return;
  Prefetch& kept = keep_ahead();
  if (kept.claims.empty()) kept.until = host_.clock.now() + ahead_timeout;
  const auto first = std::make_move_iterator(claims.rbegin());
  const auto last = std::make_move_iterator(claims.rend() - static_cast<std::ptrdiff_t>(from));
  kept.claims.insert(kept.claims.begin(), first, last);
}

}  // namespace w8y
