// Many items for a list, at the speed of a pipeline.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"

namespace w8y::app::ctl {

/// Looks at the whole list once, and pushes what is not in it; long items are looked for one by
/// one. If somebody else adds the same items meanwhile, or a connection that was cut off still has
/// some on their way, they are in the list twice. They are run one at a time all the same. To look
/// for each item as it is added would take as long as the list is.
class BulkAdd {
 public:
  /// `again`: also what is in the list already.
  BulkAdd(redis::SyncClient& client, const store::CircularKeys& keys, bool again);

  /// Kept until there is a batch of them. Throws RedisError.
  void add(Item&& item);
  /// Pushes what is left, and tells those who wait.
  void finish();

  [[nodiscard]] std::size_t added() const { return added_; }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  void read_list();
  bool read_at_once(std::size_t length);
  void read_pages();
  void know(redis::ReplyCopy&& items);
  void forget_past();
  void push();

  redis::SyncClient& client_;
  const store::CircularKeys& keys_;
  bool again_;
  std::unordered_set<Item> known_;
  std::vector<Item> batch_;
  std::size_t batch_bytes_ = 0;
  std::size_t added_ = 0;
  std::size_t skipped_ = 0;
  bool told_ = false;
};

}  // namespace w8y::app::ctl
