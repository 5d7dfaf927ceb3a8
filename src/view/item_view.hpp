// An item as it is shown: an item of a circular list, a job of a schedule or a job of a feed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "view/field.hpp"

namespace w8y::view {

/// States of the items of a list of this kind. Empty for Gearman, whose jobs gearmand holds.
[[nodiscard]] std::span<const std::string_view> item_states(SourceKind kind);

struct ItemView {
  Item item;               ///< of a long item perhaps only the first bytes
  std::size_t length = 0;  ///< bytes of the whole item
  /// One of item_states(); empty: there is no such item.
  std::string_view state;
  std::optional<WallTime> since;  ///< start of running, quarantined, claimed; or of the status
  std::optional<WallTime> until;  ///< end of the delay, if the key has no time to live
  std::optional<Duration> left;   ///< time left of the lock or lease; nullopt: it has no end
  std::int64_t failures = 0;      ///< in a row; of jobs of feeds: cancels

  std::string host;  ///< name of the host, if a w8yd or w8y holds it
  std::string pid;   ///< of its w8yd or w8y
  std::string run;   ///< active; or after which the item was quarantined
  /// Value of the lock of a circular list. Of a schedule: the tag of another program's worker.
  std::string lock;
  std::string by;                   ///< quarantined: who did it
  std::string why;                  ///< why it rests, is quarantined, bad or nowhere
  bool quarantined_at_end = false;  ///< quarantined or stalled when its run ends

  // Of circular lists.
  std::size_t copies = 1;    ///< in the list, or in the part of it that was read
  std::size_t position = 0;  ///< index of the first copy in the list

  // Of schedules and feeds.
  std::size_t queue_position = 0;  ///< in its queue: 1 is claimed next; 0: not queued, or not known
  std::string queue;               ///< code
  std::optional<WallTime> due;
  std::optional<std::string> status;    ///< as it is stored
  std::optional<std::string> schedule;  ///< as it is stored; nullopt: not read
  std::string words;                    ///< the schedule in words
  std::vector<WallTime> next;           ///< next times

  [[nodiscard]] DisplayItem shown() const { return {item, length}; }
  /// `item` is only the beginning.
  [[nodiscard]] bool cut() const { return length > item.size(); }
};

/// Returns an item of which only the name is known.
ItemView item_named(Item name);

/// Items of a list, each once.
struct ItemList {
  std::vector<ItemView> items;
  bool whole = true;                          ///< all of the list was read
  std::map<std::string, std::size_t> states;  ///< number of items that were read, by state
  std::size_t length = 0;                     ///< of the list, with all copies
};

/// An object of GET /api/v1/lists/LIST/items.
std::string to_json(const ItemView& item, SourceKind kind);
/// Names of the members of that object.
std::vector<std::string_view> item_names(SourceKind kind);
/// Adds the fields of that object.
void put_fields(core::JsonObject& json, const ItemView& item, SourceKind kind);
/// The item with its index in the ring, as pages show it. Its name has at most 120 bytes.
std::string ring_json(const ItemView& item, std::size_t index);
/// Its name alone: {"item":…}.
std::string ring_name(const ItemView& item);

}  // namespace w8y::view
