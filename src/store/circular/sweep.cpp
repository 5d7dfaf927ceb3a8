#include "store/circular/sweep.hpp"

#include <algorithm>

#include "store/circular/lock_store.hpp"

namespace w8y::store {

Sweep::Sweep(Members& members, LockStore& store, TimerQueue& timers, const Clock& clock,
             bool cluster, std::uint64_t seed)
    : members_(members),
      store_(store),
      clock_(clock),
      most_(cluster ? 1 : most_lists),
      first_pause_(pause / 2 + Duration(static_cast<Duration::rep>(
                                   seed % static_cast<std::uint64_t>(pause.count())))),
      timer_(timers),
      alive_(std::make_shared<bool>(true)) {}

Sweep::~Sweep() {
  *alive_ = false;
}

void Sweep::arm(Duration in) {
  timer_.set(clock_.now() + in, [this] { step(); });
}

void Sweep::step() {
  if (members_.size() == 0) return;  // the next one that comes sets it going again
  arm(pause);
  if (asking_) return;
  SweepCall call;
  for (std::size_t seen = 0; seen < members_.size() && call.lists.size() < most_; ++seen) {
    if (const RulePtr rule = members_.next_in_turn()->swept_rule()) call.lists.emplace_back(*rule);
  }
  if (call.lists.empty()) return;
  asking_ = true;
  store_.sweep(call, [this, alive = alive_, asked = call.lists.size()](const SweepResult* result,
                                                                       const StoreError&) {
    if (!*alive) return;
    asking_ = false;
    if (result == nullptr || members_.size() == 0) return;
    // Where much was to be forgotten, there is more, most likely; and some lists may be too long to
    // be looked at together.
    const bool more = result->forgotten >= SweepCall::most_entries / 4;
    std::size_t back = more ? asked : asked - std::min(asked, result->lists);
    for (; back > 0 && asked < members_.size(); --back) members_.turn_back();
  });
}

}  // namespace w8y::store
