// Items that are claimed before there is a place for them, so that none stands empty meanwhile.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <w8y/poller.hpp>

namespace w8y {

void Poller::note_time_of_run(Duration took) {
  if (!ahead_) ahead_ = std::make_unique<Ahead>(host_.timers);
  std::optional<Duration>& mean = ahead_->mean_run;
  mean = mean ? (*mean * 7 + took) / 8 : took;
}

std::size_t Poller::claim_ahead() const {
  // Places that are short go to whoever has waited longest, not to what waits here already.
  const bool allowed = ahead_allowed_ && budget_ == 0 && host_.places.limit() == 0;
  if (!allowed || !ahead_ || !ahead_->mean_run) return 0;
  return source_->claims_ahead({*ahead_->mean_run, claim_took_, limit()});
}

void Poller::start_ahead() {
  if (ahead() == 0) return;
  std::vector<Claim>& claims = ahead_->claims;
  bool moved = false;
  while (!claims.empty()) {
    // Looked at here too: after a stall, the lease's own timer may not have had its turn yet.
    if (!source_->may_start(claims.back())) {
      hand_back_ahead(RunId(claims.back().run));
      continue;
    }
    if (runs_.size() + item_claims_ >= limit() || take(1) == 0) break;
    Claim claim = std::move(claims.back());
    claims.pop_back();
    moved = true;
    shortage_.tried();
    runs_.start(std::move(claim), rule_, executor_);
  }
  // Set once, and looked at when it is due: this is passed for every run.
  if (moved) ahead_->until = host_.clock.now() + ahead_patience;
  if (!claims.empty() && !ahead_->timer.pending()) watch_ahead();
}

void Poller::watch_ahead() {
  ahead_->timer.set(ahead_->until, [this] {
    if (ahead() == 0) return;
    if (host_.clock.now() < ahead_->until) return watch_ahead();
    ahead_->mean_run = ahead_patience;  // the runs have become longer
    hand_back_ahead();
  });
}

bool Poller::hand_back_ahead(const RunId& run) {
  if (ahead() == 0) return false;
  std::vector<Claim>& claims = ahead_->claims;
  const auto found = std::find_if(claims.begin(), claims.end(),
                                  [&](const Claim& claim) { return claim.run == run; });
  if (found == claims.end()) return false;
  --count().claimed;
  source_->hand_back(*found);
  claims.erase(found);
  return true;
}

void Poller::hand_back_ahead() {
  if (!ahead_) return;
  ahead_->timer.cancel();
  if (ahead() == 0) return;
  std::vector<Claim>& claims = ahead_->claims;
  count().claimed -= claims.size();
  for (auto claim = claims.rbegin(); claim != claims.rend(); ++claim) source_->hand_back(*claim);
  claims.clear();
}

void Poller::keep_ahead(std::vector<Claim>& claims, std::size_t from) {
  if (from >= claims.size()) return;
  if (!ahead_) ahead_ = std::make_unique<Ahead>(host_.timers);
  if (ahead() == 0) ahead_->until = host_.clock.now() + ahead_patience;
  const auto first = std::make_move_iterator(claims.rbegin());
  const auto last = std::make_move_iterator(claims.rend() - static_cast<std::ptrdiff_t>(from));
  ahead_->claims.insert(ahead_->claims.begin(), first, last);
}

}  // namespace w8y
