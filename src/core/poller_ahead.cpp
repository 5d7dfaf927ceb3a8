// Items that are claimed before there is a place for them, so that none stands empty meanwhile.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <w8y/poller.hpp>

namespace w8y {

std::size_t Poller::claim_ahead() const {
  // Places that are short go to whoever has waited longest, not to what waits here already.
  const bool allowed = ahead_allowed_ && budget_ == 0 && host_.places.limit() == 0;
  if (!allowed || !mean_run_) return 0;
  return source_->claims_ahead({*mean_run_, claim_took_, limit()});
}

void Poller::start_ahead() {
  if (ahead_.empty()) return;
  bool moved = false;
  while (!ahead_.empty()) {
    // Looked at here too: after a stall, the lease's own timer may not have had its turn yet.
    if (!source_->may_start(ahead_.back())) {
      hand_back_ahead(RunId(ahead_.back().run));
      continue;
    }
    if (runs_.size() + item_claims_ >= limit() || take(1) == 0) break;
    Claim claim = std::move(ahead_.back());
    ahead_.pop_back();
    moved = true;
    shortage_.tried();
    runs_.start(std::move(claim), rule_, executor_);
  }
  // Set once, and looked at when it is due: this is passed for every run.
  if (moved) ahead_until_ = host_.clock.now() + ahead_patience;
  if (!ahead_.empty() && !ahead_timer_.pending()) watch_ahead();
}

void Poller::watch_ahead() {
  ahead_timer_.set(ahead_until_, [this] {
    if (ahead_.empty()) return;
    if (host_.clock.now() < ahead_until_) return watch_ahead();
    mean_run_ = ahead_patience;  // the runs have become longer
    hand_back_ahead();
  });
}

bool Poller::hand_back_ahead(const RunId& run) {
  const auto found = std::find_if(ahead_.begin(), ahead_.end(),
                                  [&](const Claim& claim) { return claim.run == run; });
  if (found == ahead_.end()) return false;
  --count().claimed;
  source_->hand_back(*found);
  ahead_.erase(found);
  return true;
}

void Poller::hand_back_ahead() {
  ahead_timer_.cancel();
  if (ahead_.empty()) return;
  count().claimed -= ahead_.size();
  for (auto claim = ahead_.rbegin(); claim != ahead_.rend(); ++claim) source_->hand_back(*claim);
  ahead_.clear();
}

void Poller::keep_ahead(std::vector<Claim>& claims, std::size_t from) {
  if (from >= claims.size()) return;
  if (ahead_.empty()) ahead_until_ = host_.clock.now() + ahead_patience;
  const auto first = std::make_move_iterator(claims.rbegin());
  const auto last = std::make_move_iterator(claims.rend() - static_cast<std::ptrdiff_t>(from));
  ahead_.insert(ahead_.begin(), first, last);
}

}  // namespace w8y
