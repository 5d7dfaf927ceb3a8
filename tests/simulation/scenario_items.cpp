// Scenario: initial items of the circular lists of a world, and the behaviour of their runs.
#include <algorithm>

#include "simulation/scenario.hpp"

namespace w8y::sim {

using namespace std::chrono_literals;

void Scenario::populate() {
  Random random = world_.random.fork(5);
  for (const ListSettings& list : settings_.lists) {
    auto& manner = children_.manners[list.name];
    manner.failing = static_cast<unsigned>(random.one_of<int>({0, 10, 40}));
    manner.stubborn = static_cast<unsigned>(random.one_of<int>({0, 10}));
    manner.longest = random.one_of<Duration>({300ms, 2s, 12s});
    auto items = random.one_of<int>({1, 2, 5, 12, 40, 300});
    std::size_t size = 0;
    switch (list.work) {
      case Work::usual:
        break;
      case Work::uneven:
        manner.long_ones = 1;
        manner.failing = 0;
        [[fallthrough]];
      case Work::quick:
        manner.longest = 8ms;
        items = list.work == Work::uneven ? 30 : random.one_of<int>({3, 30});
        break;
      case Work::crowded:
        manner.longest = random.one_of<Duration>({20ms, 100ms});
        manner.failing = 0;
        items = random.one_of<int>({1, 2});
        break;
      case Work::scarce:
        manner.longest = random.one_of<Duration>({8ms, 100ms});
        manner.failing = 0;
        items = static_cast<int>(random.between(1500, 3000));
        break;
      case Work::large:
        manner.longest = 2s;
        manner.stubborn = 0;
        items = 12;
        size = 60'000 + random.below(90'000);
    }
    manner.shortest = manner.longest / 10;
    for (Server* each : {&first_, &second_}) {
      Words words{"RPUSH", list.name + ":list"};
      for (int i = 1; i <= items; ++i) {
        words.push_back((random.chance(3) ? "bad" : "item") + std::to_string(i));
        words.back().resize(std::max(size, words.back().size()), ' ');
      }
      user(*each, list.name, words);
      if (list.work == Work::scarce) lock_most(*each, list.name, random);
    }
  }
}

/// Locks most items as another program, for longer than the world lasts.
void Scenario::lock_most(Server& at, const std::string& list, Random& random) {
  const List items = *at.keys().find<List>(list + ":list");
  const auto free = random.between(1, 3);
  std::set<std::size_t> kept;
  for (std::int64_t i = 0; i < free; ++i) kept.insert(random.below(items.size()));
  const std::string life = std::to_string(2 * options_.scale.time.count() / 1000);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!kept.contains(i))
      at.command("program", {"SET", list + ":lock:" + items[i], "program", "PX", life});
}

}  // namespace w8y::sim
