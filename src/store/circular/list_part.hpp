// Reads a circular list in parts for w8yctl and the status API, with long items truncated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "redis/sync.hpp"
#include "store/circular/keys.hpp"
#include "store/circular/list_pass.hpp"

namespace w8y::store {

/// One item of a list.
struct ListedItem {
  std::string beginning;   ///< at most item_shown bytes
  std::size_t length = 0;  ///< bytes, of the whole item
  std::string digest;      ///< SHA-1 of a long item, if states were read
  /// PTTL and value of its lock, consecutive failures, entry in the index of quarantines. Only for
  /// a long item if states were read; else empty.
  std::vector<redis::ReplyCopy> state;

  [[nodiscard]] bool is_cut() const { return length > beginning.size(); }
  /// Identifies the item. Copies are equal. Without a digest, two long items are equal if their
  /// lengths and their first item_shown bytes are.
  [[nodiscard]] std::string identity() const;
};

/// Consecutive items of a list.
struct ListPart {
  std::int64_t first = 0;  ///< index of the first item
  bool whole = false;      ///< false: the byte limit was reached, and the last items are missing
  bool moved = false;      ///< of a pass: the part was read for items that hosts moved to the end
  std::vector<ListedItem> items;
};

/// Whether the states of long items are read with the items.
enum class LongStates { skipped, read };

/// Reads `count` items from index `first` on (below 0: from the end). Throws redis::RedisError.
ListPart read_list_part(redis::SyncClient& client, const CircularKeys& keys, std::int64_t first,
                        std::int64_t count, LongStates states);

/// Reads all items by a ListPass. `each` receives the parts, the end of the list first. Throws
/// redis::RedisError.
void read_whole_list(redis::SyncClient& client, const CircularKeys& keys, LongStates states,
                     const std::function<void(ListPart&&)>& each);

}  // namespace w8y::store
