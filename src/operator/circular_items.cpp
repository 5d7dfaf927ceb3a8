#include "operator/circular_items.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/number.hpp"
#include "operator/stored.hpp"
#include "store/circular/list_part.hpp"
#include "store/circular/quarantine_note.hpp"
#include "store/lock_value.hpp"
#include "store/scripts.hpp"

namespace w8y::verbs {

using view::ItemList;
using view::ItemView;

namespace {

/// Items per call, if only the first items are needed.
constexpr std::int64_t short_page = 4096;
/// Locks per script call, and calls per batch.
constexpr std::size_t batch = 256;
constexpr std::size_t batches = 16;

/// Bytes of lock values and index entries.
constexpr const char* max_of_value = "4096";

void read_note(ItemView& item, const std::string& text);

/// Reads the reply of the script for one item.
void set_lock_state(ItemView& item, const redis::ReplyCopy* told) {
  if (const std::int64_t left = told[0].number; left != -2) {  // there is a lock
    item.left = read_ms(left);
    item.lock = told[1].text;
    read_lock(item);
  }
  item.failures = stored_number(told[2].text);
  if (!told[3].is_nil()) read_note(item, told[3].text);
}

ItemView state_of(store::ListedItem&& listed) {
  ItemView item;
  item.state = "free";
  item.item = std::move(listed.beginning);
  item.length = listed.length;
  if (listed.state.size() == 4) set_lock_state(item, listed.state.data());
  return item;
}

/// Reads a list page by page, from its start.
class Pages {
 public:
  Pages(redis::SyncClient& client, const store::CircularKeys& keys, std::int64_t page,
        std::size_t first = 0)
      : client_(client), keys_(keys), page_(page), first_(static_cast<std::int64_t>(first)) {}

  /// Adds the next items to `items`, each once; false: there are no more.
  bool next(std::vector<ItemView>& items) {
    if (at_end_) return false;
    store::ListPart page =
        store::read_list_part(client_, keys_, first_, page_, store::LongStates::read);
    const auto begin = static_cast<std::size_t>(first_);
    first_ += std::ssize(page.items);
    at_end_ = page.whole && std::ssize(page.items) < page_;
    for (std::size_t i = 0; i < page.items.size(); ++i) {
      const auto [place, is_new] = known_.try_emplace(page.items[i].identity(), items.size());
      if (is_new) {
        items.push_back(state_of(std::move(page.items[i])));
        items.back().position = begin + i;
      } else if (place->second < items.size() &&
                 items[place->second].shown().beginning ==
                     DisplayItem(page.items[i].beginning, page.items[i].length).beginning) {
        ++items[place->second].copies;
      }
    }
    return true;
  }
  [[nodiscard]] std::size_t end() const { return static_cast<std::size_t>(first_); }
  [[nodiscard]] bool at_end() const { return at_end_; }

 private:
  redis::SyncClient& client_;
  const store::CircularKeys& keys_;
  std::int64_t page_;
  std::int64_t first_;
  bool at_end_ = false;
  std::unordered_map<std::string, std::size_t> known_;  ///< indexes in `items`
};

/// Returns how many of the last items of `part` are the first items of `next`, up to a limit.
std::size_t overlap(const std::vector<std::string>& part, const std::vector<std::string>& next) {
  constexpr std::size_t most = 1024;
  for (std::size_t count = std::min({part.size(), next.size(), most}); count > 0; --count)
    if (std::equal(part.end() - static_cast<std::ptrdiff_t>(count), part.end(), next.begin()))
      return count;
  return 0;
}

/// Reads all items of a list, each once, in the order of the list.
std::vector<ItemView> read_all(redis::SyncClient& client, const store::CircularKeys& keys) {
  std::vector<ItemView> from_end;  // without copies: a later one is nearer to the start
  std::vector<ItemView> moved;
  std::unordered_map<std::string, std::size_t> known;  // indexes in from_end
  std::vector<std::string> last_part;
  store::read_whole_list(client, keys, store::LongStates::read, [&](store::ListPart&& part) {
    std::vector<std::string> identities;
    for (const store::ListedItem& item : part.items) identities.push_back(item.identity());
    // When hosts move items to the end, all other items move towards the start, and some are read
    // again.
    std::size_t left = part.items.size() - overlap(identities, last_part);
    while (left-- > 0) {
      const auto [place, is_new] = known.try_emplace(identities[left], from_end.size());
      if (part.moved && !is_new) continue;
      ItemView item = state_of(std::move(part.items[left]));
      item.position = static_cast<std::size_t>(part.first) + left;
      if (part.moved) {
        moved.push_back(std::move(item));
        continue;
      }
      if (!is_new) item.copies += std::exchange(from_end[place->second].copies, 0);
      place->second = from_end.size();
      from_end.push_back(std::move(item));
    }
    last_part = std::move(identities);
  });
  std::erase_if(from_end, [](const ItemView& item) { return item.copies == 0; });
  std::reverse(from_end.begin(), from_end.end());
  from_end.insert(from_end.end(), std::make_move_iterator(moved.rbegin()),
                  std::make_move_iterator(moved.rend()));
  return from_end;
}

/// Reads the entry in the index of quarantines. An item with an entry is not claimed, regardless of
/// its lock.
void read_note(ItemView& item, const std::string& text) {
  const store::QuarantineNote note = store::read_note(text);
  item.by = note.by;
  item.quarantined_at_end = item.state == "running";
  if (item.quarantined_at_end) return;
  item.state = "quarantined";
  item.run = note.run;
  item.why = note.reason;
  if (note.time.count() > 0) item.since = note.time;
}

/// Reads states that are not known yet. The states of long items were read with the items.
void record_list(redis::SyncClient& client, const store::CircularKeys& keys,
                 std::vector<ItemView>& items) {
  std::vector<ItemView*> unknown;
  for (ItemView& item : items)
    if (!item.cut()) unknown.push_back(&item);
  for (std::size_t first = 0; first < unknown.size();) {
    std::vector<std::string> locks;
    locks.reserve(batch * batches);  // not reallocated, since the calls point into it
    std::vector<redis::SyncClient::ScriptCall> calls;
    const std::size_t begin = first;
    while (calls.size() < batches && first < unknown.size()) {
      auto& call = calls.emplace_back();
      call.keys = {keys.failures, keys.quarantined};
      call.args = {max_of_value};
      for (const std::size_t end = std::min(unknown.size(), first + batch); first < end; ++first) {
        call.keys.push_back(locks.emplace_back(keys.lock(unknown[first]->item)));
        call.args.push_back(unknown[first]->item);
      }
    }
    std::size_t at = begin;
    for (const redis::ReplyCopy& reply : client.run_all(store::scripts::item_states, calls))
      for (std::size_t i = 0; i + 3 < reply.elements.size() && at < first; i += 4)
        set_lock_state(*unknown[at++], &reply.elements[i]);
  }
}

}  // namespace

void read_lock(ItemView& item) {
  item.state = "running";  // also with an unknown value: the item is not free
  const store::LockValue value = store::read_lock_value(item.lock);
  if (const auto* running = std::get_if<store::RunningLock>(&value)) {
    item.host = running->host;
    item.pid = running->pid;
    item.run = running->run;
    item.since = time_of_run(item.run);
  } else if (const auto* resting = std::get_if<store::RestingLock>(&value)) {
    item.state = "delayed";
    item.why = resting->why;
  } else if (const auto* quarantined = std::get_if<store::QuarantinedLock>(&value)) {
    item.state = "quarantined";
    if (time_of_run(std::string(quarantined->by))) {
      item.run = quarantined->by;
    } else {
      item.why = quarantined->by;
    }
  }
}

ItemList read_items(redis::SyncClient& client, const store::CircularKeys& keys,
                    const std::string& state, std::size_t most) {
  ItemList found;
  found.length = static_cast<std::size_t>(client.call({"LLEN", keys.list}).number);
  const auto choose = [&](std::vector<ItemView>& items) {
    record_list(client, keys, items);
    for (const auto& item : items) ++found.states[std::string(item.state)];
    std::erase_if(items, [&](const auto& item) { return !state.empty() && state != item.state; });
  };
  if (most == 0) {
    found.items = read_all(client, keys);
    choose(found.items);
    return found;
  }
  Pages pages(client, keys, short_page);
  std::vector<ItemView> page;
  while (found.items.size() < most && pages.next(page)) {
    choose(page);
    std::move(page.begin(), page.end(), std::back_inserter(found.items));
    page.clear();
  }
  found.whole = found.items.size() <= most && !pages.next(page);
  if (found.items.size() > most) found.items.resize(most);
  return found;
}

std::vector<ItemView> read_part(redis::SyncClient& client, const store::CircularKeys& keys,
                                std::size_t first, std::size_t count) {
  std::vector<ItemView> items;
  if (count == 0) return items;
  Pages pages(client, keys, static_cast<std::int64_t>(count), first);
  while (items.size() < count && pages.next(items)) {
  }
  if (items.size() > count) items.resize(count);
  record_list(client, keys, items);
  return items;
}

ItemPart read_item_part(redis::SyncClient& client, const store::CircularKeys& keys,
                        std::size_t first, std::size_t count, const Item& behind,
                        const std::function<bool(const ItemView&)>& wanted) {
  ItemPart part;
  const std::size_t one_before = behind.empty() || first == 0 ? 0 : 1;
  Pages pages(client, keys, static_cast<std::int64_t>(count + one_before), first - one_before);
  pages.next(part.items);
  if (!part.items.empty() && !part.items.back().cut() &&
      part.items.back().position + 1 == pages.end())
    part.before_end = part.items.back().item;
  if (one_before > 0) {
    part.moved = part.items.empty() || part.items.front().item != behind;
    if (part.moved) return part;
    part.items.erase(part.items.begin());
  }
  std::erase_if(part.items, [&](const ItemView& item) { return !wanted(item); });
  record_list(client, keys, part.items);
  part.end = pages.end();
  part.last = pages.at_end();
  return part;
}

ItemView read_item(redis::SyncClient& client, const store::CircularKeys& keys, const Item& item,
                   Copies copies) {
  redis::Command find{"LPOS", keys.list, item, "COUNT", copies == Copies::found ? "1" : "0"};
  const redis::ReplyCopy places = client.call(find);
  std::vector<ItemView> items{view::item_named(item)};
  ItemView& read = items.front();
  read.state = "free";
  read.copies = places.elements.size();
  if (read.copies > 0) read.position = static_cast<std::size_t>(places.elements.front().number);
  record_list(client, keys, items);
  if (read.copies == 0 && read.state != "running") read.state = {};
  return std::move(read);
}

}  // namespace w8y::verbs
