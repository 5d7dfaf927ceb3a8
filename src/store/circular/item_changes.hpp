// What an operator does to items of a circular list: each in one step, so that no host and no other
// operator comes between looking and doing.
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

namespace w8y::store {

enum class AddedAs { listed_already = 0, added = 1 };
enum class QuarantinedAs {
  not_listed = 0,
  done = 1,
  was_already = 2,
  at_end_of_run = 3,  ///< it runs: no host takes it up again after that
  asked_already = 4,  ///< the same, and the first who asked is kept
};
enum class ReleasedAs {
  not_listed = 0,
  released = 1,
  was_free = 2,
  runs = 3,        ///< left alone
  called_off = 4,  ///< it runs, and is not quarantined at its end
};

/// All throw redis::RedisError. Results are in the order of the items. In a list of a million
/// items, one Redis call takes at most about 20 ms. In a long list, one pass finds up to 1,000
/// items (ListPass).
class ItemChanges {
 public:
  ItemChanges(redis::SyncClient& client, CircularKeys keys)
      : client_(client), keys_(std::move(keys)) {}

  /// At the end of the list; `again`: also what is in it already. What comes anew begins anew.
  std::vector<AddedAs> add(const std::vector<Item>& items, bool again);
  /// Every copy of them. How many there were of each.
  std::vector<std::size_t> remove(const std::vector<Item>& items);
  /// The same, of those that are in this state then ("free", "running", "delayed" or
  /// "quarantined"); nullopt: it is in another one, and stays.
  std::vector<std::optional<std::size_t>> remove(const std::vector<Item>& items,
                                                 const std::string& state);
  /// Until release(). A run that is going on goes on to its end; to end it too, cancel it after
  /// this.
  std::vector<QuarantinedAs> quarantine(const std::vector<Item>& items, const QuarantineNote& note);
  /// Ends rests and quarantines, and forgets failures.
  std::vector<ReleasedAs> release(const std::vector<Item>& items);
  /// Returns a digit for each item: '1' if it is in the list.
  [[nodiscard]] std::string find(std::span<const Item> items);

  enum class LongChange { remove, release };
  /// The same for items that are longer than what is shown of them, where they stand in the list:
  /// of all in some of these states, or of the one that a run holds. Which were changed.
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
  /// Runs a script on some items at a time. `listed`: known_listed (parts/listed.lua); empty: finds
  /// the items if the script needs it.
  template <typename Result>
  std::vector<Result> run(const redis::Script& script, const redis::Command& keys, Locks locks,
                          const redis::Command& args, const std::vector<Item>& items,
                          std::string listed = {});
  /// Copies that were removed of each item. -1: it is in another state than `state`.
  std::vector<std::int64_t> remove_all(const std::vector<Item>& items, const std::string& state);
  /// Calls `script` for each part of a pass. The first four arguments describe the part; `add_args`
  /// appends the others. The first four reply elements belong to the pass; `each` receives the
  /// rest.
  void pass(const redis::Script& script, const redis::Command& keys,
            const std::function<void(redis::Command&)>& add_args,
            const std::function<void(std::span<const redis::ReplyCopy>)>& each);
  std::vector<DisplayItem> change_long(const char* what, const std::string& which,
                                       const std::string& note);

  redis::SyncClient& client_;
  CircularKeys keys_;
};

}  // namespace w8y::store
