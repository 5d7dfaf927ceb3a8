// Adds many items to a list, in pipelines.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/item.hpp"
#include "operator/query_context.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

/// Reads the whole list once and pushes the items that are not in it. Before a batch is pushed, its
/// long items are searched for in the list. An item is in the list twice if another client adds it
/// at the same time, or if Redis still receives a command of a lost connection. The fleet never
/// runs both copies at once.
class BulkAdd {
 public:
  /// `again`: also adds items that the list has already.
  BulkAdd(QueryContext& query, const std::string& list, bool again);

  /// Adds an item to the batch, and pushes a full batch. Throws RedisError.
  void add(Item&& item);
  /// Pushes the remaining items, and sends a wake-up.
  void finish();

  [[nodiscard]] std::size_t added() const { return added_; }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  void read_list();
  void drop_listed();
  void forget_past();
  void push();

  QueryContext& query_;
  redis::SyncClient& client_;
  const std::string list_;
  const store::CircularKeys keys_;
  bool again_;
  std::unordered_set<Item> known_;       ///< short items that are in the list or were added
  std::unordered_set<Item> long_items_;  ///< of the batch
  std::vector<Item> batch_;
  std::size_t batch_bytes_ = 0;
  std::size_t added_ = 0;
  std::size_t skipped_ = 0;
  bool reported_ = false;
};

}  // namespace w8y::verbs
