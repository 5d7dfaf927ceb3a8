#include "store/circular/sweep.hpp"

#include <algorithm>
#include <vector>

#include "store/circular/script_locks.hpp"
#include "store/run_record.hpp"

namespace w8y::store {

Sweep::Sweep(ScriptLocks& store, TimerQueue& timers, const Clock& clock, bool cluster,
             std::uint64_t seed)
    : store_(store),
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

Sweep::Swept::Swept(Sweep& sweep)
    : sweep_(sweep), place_(sweep.lists_.insert(sweep.lists_.end(), this)) {
  if (!sweep_.timer_.pending()) sweep_.arm(sweep_.first_pause_);
}

Sweep::Swept::~Swept() {
  if (sweep_.next_ == place_) ++sweep_.next_;
  sweep_.lists_.erase(place_);
}

Sweep::Swept& Sweep::next_in_turn() {
  if (next_ == lists_.end()) next_ = lists_.begin();
  return **next_++;
}

std::list<ListConfigPtr> Sweep::rules() const {
  std::list<ListConfigPtr> rules;
  for (const Swept* list : lists_)
    if (ListConfigPtr rule = list->swept_rule()) rules.push_back(std::move(rule));
  return rules;
}

/// Makes the previous list the next one again.
void Sweep::turn_back() {
  if (next_ == lists_.begin()) next_ = lists_.end();
  --next_;
}

void Sweep::step() {
  if (lists_.empty()) return;  // the next list that is added starts the timer again
  arm(pause);
  if (asking_) return;
  SweepCall call;
  std::vector<ListConfigPtr> rules;
  for (std::size_t seen = 0; seen < lists_.size() && call.lists.size() < most_; ++seen) {
    if (const ListConfigPtr rule = next_in_turn().swept_rule()) {
      call.lists.emplace_back(*rule);
      rules.push_back(rule);
    }
  }
  if (call.lists.empty()) return;
  asking_ = true;
  const std::size_t asked = call.lists.size();
  store_.sweep(call, [this, alive = alive_, asked, rules = std::move(rules)](
                         const SweepResult* result, const StoreError&) {
    if (!*alive) return;
    asking_ = false;
    if (result == nullptr || lists_.empty()) return;
    for (const std::size_t list : result->interrupted) {
      const ListConfig& rule = *rules.at(list);
      const HistoryLimits history = history_of(rule, false);
      if (rule.keeps_records && history.runs > 0) store_.recover({CircularKeys(rule), history});
    }
    // If many entries were deleted, there are probably more. Some lists may be too long to be swept
    // together.
    const bool more = result->forgotten >= SweepCall::most_entries / 4;
    // In a long list, one call can check only one entry.
    if (result->forgotten > 0) arm(busy_pause);
    std::size_t back = more ? asked : asked - std::min(asked, result->lists);
    for (; back > 0 && asked < lists_.size(); --back) turn_back();
  });
}

}  // namespace w8y::store
