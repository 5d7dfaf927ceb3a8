// Invariants of the items of circular lists: no item is lost, and a removed item is not claimed.
#include <algorithm>
#include <utility>

#include "simulation/invariants.hpp"

namespace w8y::sim {

std::uint64_t Invariants::sum_of(Server& server, const std::string& list) {
  std::uint64_t sum = 0;
  if (const List* items = server.keys().find<List>(list))
    for (const std::string& item : *items) sum += hash_of(item);
  return sum;
}

void Invariants::user_changes(Server& server, const std::string& list) {
  ++changes_[server.name() + ' ' + list];
  changed_at_[server.name() + ' ' + list] = world_.now();
  items_[server.name() + ' ' + list + ":list"] = sum_of(server, list + ":list");
  // A removal deletes marks.
  const std::string keys = server.name() + ' ' + list + ':';
  std::erase_if(marks_, [&](const auto& mark) { return mark.first.starts_with(keys); });
}

void Invariants::check_items(Server& server, const std::string& list, const std::string& who) {
  const auto known = items_.find(server.name() + ' ' + list);
  if (known == items_.end()) return;
  // A lost item stays lost, so that a long list need not be checked each time.
  const List* items = server.keys().find<List>(list);
  if (items != nullptr && items->size() > 8 && ++checks_ % 16 != 0) return;
  if (known->second == sum_of(server, list)) return;
  break_promise("no item is ever lost",
                "the items of " + list + " have changed after a call of " + who,
                {who, list_of(list)});
}

/// Checks that an item that a claim has locked has a copy in its list. Claims only rotate the list,
/// and leave claimed items near its right end.
void Invariants::check_listed(Server& server, const Server::Command& claim,
                              const std::string& item) {
  const List* items = server.keys().find<List>(claim.key[0]);
  if (items != nullptr && std::find(items->rbegin(), items->rend(), item) != items->rend()) return;
  const std::string list = list_of(claim.key[0]);
  break_promise("a removed item is not claimed",
                claim.who + " claims " + brief(item) + ", of which " + list + " has no copy",
                {list + ' ' + brief(item), claim.who});
}

/// Records the runs that hold items of a list before an operator removes items.
void Invariants::before_removal(Server& server, const Server::Command& removal) {
  held_.clear();
  const std::string list = list_of(removal.key[0]);
  for (const auto& [id, run] : runs_)
    if (!run.settled && run.server == server.name() && run.list == list && holds(server, run))
      held_.push_back(&run);
}

void Invariants::after_removal(Server& server) {
  for (const Run* run : std::exchange(held_, {}))
    if (!holds(server, *run))
      break_promise("a claim before the removal of its item stands",
                    "the lock of run " + run->id + " is gone",
                    {run->list + ' ' + run->item, run->host});
}

bool Invariants::holds(Server& server, const Run& run) {
  const auto* value = server.keys().find<std::string>(run.lock);
  return value != nullptr && *value == run.value;
}

}  // namespace w8y::sim
