#include "store/circular/sweep.hpp"

#include <algorithm>
#include <iterator>

#include "store/circular/lock_store.hpp"

namespace w8y::store {

Sweep::Sweep(LockStore& store, TimerQueue& timers, const Clock& clock, bool cluster,
             std::uint64_t seed)
    : store_(store),
      clock_(clock),
      most_(cluster ? 1 : most_lists),
      next_(members_.end()),
      first_pause_(pause / 2 + Duration(static_cast<Duration::rep>(
                                   seed % static_cast<std::uint64_t>(pause.count())))),
      timer_(timers),
      alive_(std::make_shared<bool>(true)) {}

Sweep::~Sweep() {
  *alive_ = false;
}

Sweep::Member::Member(Sweep& sweep) : sweep_(sweep) {
  place_ = sweep_.members_.insert(sweep_.members_.end(), this);
  if (!sweep_.timer_.pending()) sweep_.arm(sweep_.first_pause_);
}

Sweep::Member::~Member() {
  if (sweep_.next_ == place_) ++sweep_.next_;
  sweep_.members_.erase(place_);
}

void Sweep::arm(Duration in) {
  timer_.set(clock_.now() + in, [this] { step(); });
}

void Sweep::step() {
  if (members_.empty()) return;  // the next one that comes sets it going again
  arm(pause);
  if (asking_) return;
  SweepCall call;
  for (std::size_t seen = 0; seen < members_.size() && call.lists.size() < most_; ++seen) {
    if (next_ == members_.end()) next_ = members_.begin();
    if (const RulePtr rule = (*next_)->swept_rule()) call.lists.emplace_back(*rule);
    ++next_;
  }
  if (call.lists.empty()) return;
  asking_ = true;
  store_.sweep(call, [this, alive = alive_, asked = call.lists.size()](const SweepResult* result,
                                                                       const StoreError&) {
    if (!*alive) return;
    asking_ = false;
    if (result == nullptr || members_.empty()) return;
    // Where much was to be forgotten, there is more, most likely; and some lists may be too long to
    // be looked at together.
    const bool more = result->forgotten >= SweepCall::most_entries / 4;
    std::size_t back = more ? asked : asked - std::min(asked, result->lists);
    for (; back > 0 && asked < members_.size(); --back)
      next_ = std::prev(next_ == members_.begin() ? members_.end() : next_);
  });
}

}  // namespace w8y::store
