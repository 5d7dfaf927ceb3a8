// Operator's changes to items of a circular list. Each is atomic, so that no host and no other
// operator changes the item between the check and the change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/item.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"
#include "store/circular/quarantine_note.hpp"
#include "store/request_record.hpp"

namespace w8y::store {

enum class AddedAs { listed_already = 0, added = 1 };
/// Maximum number of items that one call adds.
inline constexpr std::size_t max_added = 1000;

enum class QuarantinedAs {
  not_listed = 0,
  done = 1,
  was_already = 2,
  at_end_of_run = 3,  ///< the item is running and will be quarantined at the end of its run
  asked_already = 4,  ///< as at_end_of_run, requested before; the first note is kept
};
enum class ReleasedAs {
  not_listed = 0,
  released = 1,
  was_free = 2,
  runs = 3,        ///< not changed
  called_off = 4,  ///< the item is running and will not be quarantined at the end
};
enum class MovedAs {
  not_listed = 0,
  first = 1,        ///< the item is claimed next
  runs = 2,         ///< not changed; also if another program has locked it
  quarantined = 3,  ///< not changed
};

enum class RerunAs {
  not_listed = 0,
  delay_ended = 1,
  was_free = 2,
  after_run = 3,    ///< the item is running and will be free after its run
  quarantined = 4,  ///< not changed; also if it will be quarantined at the end of its run
};

/// All throw redis::RedisError. Results are in the order of the items. In a list of a million
/// items, one Redis call takes at most about 20 ms. In a long list, one pass finds up to 1,000
/// items (ListPass).
class ItemChanges {
 public:
  ItemChanges(redis::SyncClient& client, CircularKeys keys)
      : client_(client), keys_(std::move(keys)) {}

  /// Adds items to the end of the list, max_added in each call. `again`: also items that are in the
  /// list already. A new item has no failures, delay or quarantine.
  std::vector<AddedAs> add(const std::vector<Item>& items, bool again);
  /// Adds at most max_added items in one call, which also records the request.
  RecordedReply add(std::span<const Item> items, bool again, const RequestRecord& request);
  /// Removes every copy of the items. Returns the number of copies of each.
  std::vector<std::size_t> remove(const std::vector<Item>& items);
  /// Removes items in this state ("free", "running", "delayed" or "quarantined").
  /// nullopt: the item is in another state and stays.
  std::vector<std::optional<std::size_t>> remove(const std::vector<Item>& items,
                                                 const std::string& state);
  /// Quarantines items until release(). An active run continues to its end; to stop it as well,
  /// cancel it afterwards.
  std::vector<QuarantinedAs> quarantine(const std::vector<Item>& items, const QuarantineNote& note);
  /// Ends delays and quarantines, and resets failures.
  std::vector<ReleasedAs> release(const std::vector<Item>& items);
  /// Moves an item to the end of the list where items are claimed, and ends its delay. One copy is
  /// moved, and all other items keep their order.
  MovedAs move_first(const Item& item);
  /// Makes sure that a run of the item starts after this call.
  RerunAs rerun(const Item& item);
  /// Returns a digit for each item: '1' if it is in the list.
  [[nodiscard]] std::string find(std::span<const Item> items);

  enum class LongChange { remove, release };
  /// Changes items that are longer than their displayed part, at their position in the list: all
  /// items in one of these states, or the item of a run. Returns the changed items.
  std::vector<DisplayItem> change_long(LongChange what, const std::vector<std::string>& states);
  std::vector<DisplayItem> quarantine_long(const RunId& run, const QuarantineNote& note);

  struct Quarantined {
    Item item;
    QuarantineNote note;
  };
  /// Returns the entries of the index. It includes items with active runs that will be quarantined
  /// at the end of their run, but no long items.
  std::vector<Quarantined> quarantined();

 private:
  enum class Locks { one, both };
  /// Runs a script on batches of items. `listed`: known_listed (parts/listed.lua); empty: finds the
  /// items if the script needs it.
  template <typename Result>
  std::vector<Result> run(const redis::Script& script, const redis::Command& keys, Locks locks,
                          const redis::Command& args, const std::vector<Item>& items,
                          std::string listed = {});
  /// Returns the number of removed copies of each item. -1 = the item is in another state than
  /// `state`.
  std::vector<std::int64_t> remove_all(const std::vector<Item>& items, const std::string& state);
  /// Calls `script` for each part of a pass. The first four arguments describe the part; `add_args`
  /// appends the others. The first four reply elements belong to the pass; `each` receives the
  /// remaining ones.
  void pass(const redis::Script& script, const redis::Command& keys,
            const std::function<void(redis::Command&)>& add_args,
            const std::function<void(std::span<const redis::ReplyCopy>)>& each);
  std::vector<DisplayItem> change_long(const char* what, const std::string& which,
                                       const std::string& note);

  redis::SyncClient& client_;
  CircularKeys keys_;
};

}  // namespace w8y::store
