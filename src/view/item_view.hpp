// JSON of an item: an item of a circular list, a job of a schedule or a job of a feed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "view/field.hpp"

namespace w8y::view {

struct ItemView {
  Item item;               ///< may be only the first bytes of a long item
  std::size_t length = 0;  ///< bytes of the complete item
  /// One of KindView::states; empty: there is no such item.
  std::string_view state;
  /// Start of running, quarantined or claimed; or time of the status.
  std::optional<WallTime> since;
  std::optional<WallTime> until;  ///< end of the delay, if the key has no time to live
  std::optional<Duration> left;   ///< time left of the lock or lease; nullopt: it does not expire
  std::int64_t failures = 0;  ///< consecutive failures; for jobs of feeds, the number of cancels

  std::string host;  ///< name of the host, if a w8yd or w8y holds it
  std::string pid;   ///< process ID of its w8yd or w8y
  std::string run;   ///< active run, or the run after which the item was quarantined
  /// Circular list: value of the lock. Schedule: tag of the worker of another program.
  std::string lock;
  std::string by;                   ///< quarantined: the operator
  std::string why;                  ///< why the item is delayed, quarantined, bad or orphaned
  bool quarantined_at_end = false;  ///< quarantined or stalled when its run ends

  // Circular lists only.
  std::size_t copies = 1;    ///< in the list, or in the part of the list that was read
  std::size_t position = 0;  ///< index of the first copy in the list

  // Schedules and feeds only.
  /// In its queue: 1 is claimed next; 0 = not queued, or not known.
  std::size_t queue_position = 0;
  std::string queue;  ///< code
  std::optional<WallTime> due;
  std::optional<std::string> status;    ///< as stored
  std::optional<std::string> schedule;  ///< as stored; nullopt: not read
  std::string words;                    ///< description of the schedule
  std::vector<WallTime> next;           ///< next times

  // Feeds only.
  std::optional<std::string> payload;  ///< nullopt: not read; may be only its first bytes
  std::size_t payload_length = 0;      ///< bytes of the complete payload

  [[nodiscard]] DisplayItem shown() const { return {item, length}; }
  /// Returns whether `item` is truncated.
  [[nodiscard]] bool cut() const { return length > item.size(); }
};

/// Returns an item of which only the name is known.
ItemView item_named(Item name);

/// Distinct items of a list.
struct ItemList {
  std::vector<ItemView> items;
  bool whole = true;                          ///< whether all of the list was read
  std::map<std::string, std::size_t> states;  ///< number of items that were read, by state
  std::size_t length = 0;                     ///< of the list, with all copies
};

/// Returns an object of GET /api/v1/lists/LIST/items.
std::string to_json(const ItemView& item, const KindTraits& kind);
/// Returns the names of the members of that object.
std::vector<std::string_view> item_names(const KindTraits& kind);
/// Adds the fields of that object.
void put_fields(core::JsonObject& json, const ItemView& item, const KindTraits& kind);
/// Returns the item with its index in the ring, as pages show it. Its name has at most 120 bytes.
std::string ring_json(const ItemView& item, std::size_t index);
/// Returns only the name: {"item":…}.
std::string ring_name(const ItemView& item);

}  // namespace w8y::view
