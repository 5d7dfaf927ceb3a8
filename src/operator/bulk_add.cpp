#include "operator/bulk_add.hpp"

#include <algorithm>
#include <utility>

#include "operator/item_changes.hpp"
#include "operator/lists.hpp"
#include "store/circular/item_changes.hpp"
#include "store/circular/list_part.hpp"
#include "store/lock_value.hpp"

namespace w8y::verbs {

namespace {

// Limits of one command, so that Redis is not blocked for long, and of one batch.
constexpr std::size_t items_of_command = 1000;
constexpr std::size_t bytes_of_command = std::size_t{256} << 10;
constexpr std::size_t items_of_batch = 32 * items_of_command;
constexpr std::size_t bytes_of_batch = std::size_t{4} << 20;

}  // namespace

BulkAdd::BulkAdd(QueryContext& query, const std::string& list, bool again)
    : query_(query),
      client_(query.redis),
      list_(list),
      keys_(item_keys(query, list)),
      again_(again) {
  if (!again_) read_list();
}

void BulkAdd::read_list() {
  store::read_whole_list(client_, keys_, store::LongStates::skipped,
                         [this](store::ListPart&& part) {
                           for (store::ListedItem& item : part.items)
                             if (!item.is_cut()) known_.insert(std::move(item.beginning));
                         });
}

void BulkAdd::add(Item&& item) {
  if (!again_ && !(item.size() > item_shown ? long_items_ : known_).insert(item).second) {
    ++skipped_;
    return;
  }
  batch_bytes_ += item.size();
  batch_.push_back(std::move(item));
  if (batch_.size() >= items_of_batch || batch_bytes_ >= bytes_of_batch) push();
}

/// Removes locks, failures and quarantines of new items, so that an earlier copy has no effect.
/// While an item is not in the list, no host claims its lock. Usually there are no locks, and one
/// command checks many items.
void BulkAdd::forget_past() {
  std::vector<std::string> locks;
  for (const Item& item : batch_) {
    locks.push_back(keys_.lock(item));
    locks.push_back(keys_.other_lock_prefix + item);
  }
  std::vector<redis::Command> looks;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (i % items_of_command == 0) looks.push_back({"EXISTS"});
    looks.back().push_back(locks[i]);
  }
  const std::vector<redis::ReplyCopy> there = client_.pipeline(looks);
  std::vector<redis::Command> values;
  std::vector<std::size_t> of;
  const std::string last = std::to_string(store::lock_kind_bytes - 1);
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (there[i / items_of_command].number == 0) continue;
    values.push_back({"GETRANGE", locks[i], "0", last});  // enough to recognize its kind
    of.push_back(i);
  }
  const std::vector<redis::ReplyCopy> found = client_.pipeline(values);
  std::vector<redis::Command> forget;
  for (std::size_t i = 0; i < of.size(); ++i)
    if (store::is_resting(found[i].text) || store::is_quarantined(found[i].text))
      forget.push_back({"DEL", locks[of[i]]});
  for (const std::string* hash : {&keys_.failures, &keys_.quarantined}) {
    if (client_.call({"EXISTS", *hash}).number == 0) continue;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (i % items_of_command == 0) forget.push_back({"HDEL", *hash});
      forget.back().push_back(batch_[i]);
    }
  }
  client_.call_all(forget);
}

/// Drops the long items of the batch that the list has.
void BulkAdd::drop_listed() {
  const std::vector<Item> items(long_items_.begin(), long_items_.end());
  long_items_.clear();
  const std::string listed = store::ItemChanges(client_, keys_).find(items);
  std::unordered_set<Item> drop;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (listed[i] == '1') drop.insert(items[i]);
  skipped_ += std::erase_if(batch_, [&](const Item& item) { return drop.contains(item); });
}

void BulkAdd::push() {
  if (!long_items_.empty()) drop_listed();
  batch_bytes_ = 0;
  if (batch_.empty()) return;
  if (!again_) forget_past();
  std::vector<redis::Command> commands;
  std::size_t bytes = bytes_of_command;
  for (const Item& item : batch_) {
    if (bytes >= bytes_of_command || commands.back().size() >= items_of_command) {
      commands.push_back({"RPUSH", keys_.list});
      bytes = 0;
    }
    commands.back().push_back(item);
    bytes += item.size();
  }
  // Waiting hosts start with the first items.
  if (!reported_) commands.push_back({"PUBLISH", keys_.wake, "added"});
  std::vector<redis::ReplyCopy> replies = client_.pipeline(commands);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    redis::checked(replies[i]);
    if (commands[i].front() == "RPUSH") added_ += commands[i].size() - 2;
  }
  reported_ = true;
  record_changes(query_, list_, "added", batch_);
  batch_.clear();
}

void BulkAdd::finish() {
  if (!batch_.empty()) push();
  if (added_ > 0) client_.call({"PUBLISH", keys_.wake, "added"});
}

}  // namespace w8y::verbs
