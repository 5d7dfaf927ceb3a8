#include "app/list_iteration.hpp"

#include <utility>

namespace w8y::app {

namespace {

/// Time of one step, and the pause after it for other work of the loop.
constexpr Duration max_step = std::chrono::milliseconds(2);
constexpr Duration pause = std::chrono::microseconds(500);
/// Number of lists between two checks of the clock.
constexpr std::size_t few = 16;

}  // namespace

ListIteration::ListIteration(const Clock& clock, TimerQueue& timers, const Supervisor& supervisor,
                             const ListStateSource& facts)
    : clock_(clock), supervisor_(supervisor), facts_(facts), timer_(timers) {}

void ListIteration::begin(Visit visit, Then then) {
  walks_.push_back({std::move(visit), std::move(then), std::nullopt});
  if (!timer_.pending()) timer_.set(clock_.now(), [this] { next_step(); });
}

void ListIteration::next_step() {
  const bool over = step(walks_.front());
  if (over) {
    const Iteration walk = std::move(walks_.front());
    walks_.pop_front();
    walk.then();
  }
  if (!walks_.empty()) timer_.set(clock_.now() + pause, [this] { next_step(); });
}

/// Returns whether the iteration is complete.
bool ListIteration::step(Iteration& walk) const {
  const auto& lists = supervisor_.lists();
  const Instant until = clock_.now() + max_step;
  auto list = walk.last ? lists.upper_bound(*walk.last) : lists.begin();
  for (std::size_t i = 1; list != lists.end(); ++list, ++i) {
    walk.visit(status_of(*list->second, supervisor_, facts_), *list->second);
    if (i % few > 0 || clock_.now() < until) continue;
    walk.last = list->first;
    return false;
  }
  for (const auto& gone : supervisor_.closing())
    if (gone->running() > 0) walk.visit(status_of(*gone, supervisor_, facts_), *gone);
  return true;
}

}  // namespace w8y::app
