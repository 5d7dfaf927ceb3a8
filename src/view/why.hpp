// Why does it not run, or not faster? Facts in, sentences out: the first one is the answer, the
// others say what it comes from and what to do.
//
// Facts come from Redis and from the hosts of the fleet; whoever has gathered them asks here. All
// times are Redis's. Names and texts of others are escaped here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/message.hpp"
#include "core/pause.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"

namespace w8y {

struct WhySentence {
  std::string kind;                             ///< "paused", "limit", …: w8y-api(7) has them all
  std::string text;                             ///< one line, fit for a terminal
  std::vector<std::string> hosts;               ///< that it is about, as they are called
  std::map<std::string, std::int64_t> numbers;  ///< by name: "remaining_ms"
  std::map<std::string, std::string> texts;     ///< by name: "run"
};

struct Why {
  /// Of the item: "running", "delayed", …, "unknown"; of a list: "running", "held", "idle",
  /// "unknown".
  std::string state;
  std::vector<WhySentence> sentences;

  /// There is no such item, or no such list.
  [[nodiscard]] bool unknown() const { return state == "unknown"; }
};

/// JSON of GET /api/v1/lists/LIST/why and …/items/ITEM/why. `age`: of the facts.
std::string why_json(const Why& why, const std::string& list, const std::optional<Item>& item,
                     WallTime age);

// ---- facts

struct WhyList {
  std::string name;
  SourceKind kind = SourceKind::circular;
  WallTime now{0};
  /// How times are shown; by default "2026-01-31T12:34:56Z".
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet;
  std::string fleet_error;  ///< why its hosts can't be seen; empty: they can
  /// Each with the list, if its config has it. The reply of a host to the command
  /// `runs` overrides its last heartbeat.
  std::vector<FleetHost> hosts;
  bool has_keys = true;  ///< Redis has something of that name
  std::optional<Pause> pause;
  /// Of a schedule: who has halted it; may be empty.
  std::optional<std::string> halted;
  std::size_t fleet_runs = 0;  ///< that count for fleet_concurrency
};

/// An item of a circular list, a job of a schedule or of a feed.
struct WhyItem : view::ItemView {
  WhyItem() = default;
  explicit WhyItem(view::ItemView item) : view::ItemView(std::move(item)) {}

  bool listed = true;  ///< false: it was taken off the list, and its lock or quarantine is left
  std::optional<Progress> progress;
  bool stopping = false;      ///< its run was told to end
  unsigned max_failures = 0;  ///< of jobs; 0: not known, or none
  /// The last failed run. Its `reason` ends with the last line that it wrote to standard error.
  std::optional<view::RunRecord> last_failure;
};

/// The items of a list in figures.
struct WhyItems {
  std::size_t length = 0;                     ///< of all
  std::size_t examined = 0;                   ///< of them; the figures below are of these
  std::map<std::string, std::size_t> states;  ///< view::item_states()
  // Of those that rest.
  std::optional<Duration> first_free;
  std::optional<Duration> last_free;
  // Of a schedule.
  std::optional<WallTime> next_due;
  std::size_t late = 0;                                     ///< due, and in no queue yet
  std::vector<std::pair<std::string, std::size_t>> queues;  ///< code, jobs
};

// ---- answers

/// A time for a client that shows it in its own zone: milliseconds between two U+001E, which no
/// other text in a sentence contains.
std::string marked_time(WallTime time);
/// The text with its marked times as `time_text` writes them.
std::string with_times(std::string_view text, std::string (*time_text)(WallTime time));

/// Applies replies to the lists and heartbeats of their hosts. A host whose reply has no list does
/// not have the list.
void add_replies(std::vector<FleetHost>& hosts, const FleetCommandResult& replies);

Why why_item(const WhyList& list, const WhyItem& item);
/// What keeps the list from going faster.
Why why_list(const WhyList& list, const WhyItems& items);
/// Redis can't be asked: what the host that was asked knows itself.
Why why_unavailable(const std::string& host, const std::string& error,
                    std::optional<WallTime> since, WallTime now,
                    std::string (*time_text)(WallTime time) = nullptr);

}  // namespace w8y
