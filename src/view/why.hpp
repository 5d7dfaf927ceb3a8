// Explains why an item does not run, or what limits a list. The input is facts, the output is
// sentences: the first sentence is the answer, the others give its cause and a remedy.
//
// The caller collects the facts from Redis and from the hosts of the fleet. All times are by the
// clock of Redis. Names and texts of other programs are escaped here.
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
#include "core/open_breaker.hpp"
#include "core/pause.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/item_change.hpp"
#include "view/item_view.hpp"
#include "view/run_record.hpp"

namespace w8y {

struct WhySentence {
  std::string kind;                ///< "paused", "limit", …; see w8y-api(7) for all kinds
  std::string text;                ///< one line, fit for a terminal
  std::vector<std::string> hosts;  ///< names of the hosts that the sentence is about
  std::map<std::string, std::int64_t> numbers;  ///< by name: "remaining_ms"
  std::map<std::string, std::string> texts;     ///< by name: "run"
};

struct Why {
  /// Item: "running", "delayed", …, "unknown". List: "running", "held", "idle", "unknown".
  std::string state;
  std::vector<WhySentence> sentences;

  /// Returns whether there is no such item or list.
  [[nodiscard]] bool unknown() const { return state == "unknown"; }
};

/// Returns the JSON of GET /api/v1/lists/LIST/why and …/items/ITEM/why. `age`: age of the facts.
std::string why_json(const Why& why, const std::string& list, const std::optional<Item>& item,
                     WallTime age);

// ---- facts

struct WhyList {
  std::string name;
  std::optional<std::string> key_prefix = {};  ///< of a schedule; nullopt = its name
  const KindTraits* kind = default_kind;
  WallTime now{0};
  /// Format of times; by default "2026-01-31T12:34:56Z".
  std::string (*time_text)(WallTime time) = nullptr;

  std::string fleet;
  std::string fleet_error;  ///< why the hosts of the fleet cannot be read; empty: they can
  /// Each with the list, if its config has it. The reply of a host to the command `runs` overrides
  /// its last heartbeat.
  std::vector<FleetHost> hosts;
  bool has_keys = true;  ///< whether Redis has keys of the list
  std::string near;      ///< of an unknown list: "; did you mean NAME?", if a name is similar
  std::optional<Pause> pause;
  std::optional<OpenBreaker> breaker;
  /// Schedule: the operator who halted it; may be empty.
  std::optional<std::string> halted;
  std::size_t fleet_runs = 0;  ///< runs that count for fleet_concurrency
};

/// An item of a circular list, a job of a schedule or a job of a feed.
struct WhyItem : view::ItemView {
  WhyItem() = default;
  explicit WhyItem(view::ItemView item) : view::ItemView(std::move(item)) {}

  /// False: the item was removed from the list, but its lock or quarantine remains.
  bool listed = true;
  std::optional<Progress> progress;
  bool stopping = false;      ///< an operator cancelled its run, which is stopping
  unsigned max_failures = 0;  ///< of jobs; 0 = not known, or no limit
  /// Last failed run. Its `reason` ends with the last line of its standard error.
  std::optional<view::RunRecord> last_failure;
  /// Failed runs before it, since the last success, newest first. Their `reason` ends in the same
  /// way.
  std::vector<view::RunRecord> earlier_failures;
  /// Last change by an operator.
  std::optional<view::ItemChange> last_change;
  /// Items or jobs that are claimed before a free or queued item; nullopt: not known.
  std::optional<std::size_t> ahead;
  bool ahead_estimated = false;
  double runs_per_second = 0;  ///< rate of the list by its last run records; 0: not known
};

/// Statistics of the items of a list.
struct WhyItems {
  std::size_t length = 0;    ///< of all items
  std::size_t examined = 0;  ///< number of items that the following statistics cover
  std::map<std::string, std::size_t> states;  ///< by state, as in view::KindView::states
  // Delayed items only.
  std::optional<Duration> first_free;
  std::optional<Duration> last_free;
  // Schedules only.
  std::optional<WallTime> next_due;
  std::size_t late = 0;  ///< jobs that are due and not queued yet
  std::vector<std::pair<std::string, std::size_t>> queues;  ///< code, number of jobs
};

// ---- answers

/// Returns a time for a client that shows it in its own zone: milliseconds between two U+001E,
/// which no other text in a sentence contains.
std::string marked_time(WallTime time);
/// Returns the text with its marked times in the format of `time_text`.
std::string with_times(std::string_view text, std::string (*time_text)(WallTime time));

/// Applies replies to the lists and heartbeats of their hosts, and marks the hosts without a reply.
/// A reply without a list means that the host does not have the list in its config.
void add_replies(std::vector<FleetHost>& hosts, const FleetCommandResult& replies);

Why why_item(const WhyList& list, const WhyItem& item);
/// Explains what limits a list.
Why why_list(const WhyList& list, const WhyItems& items);
/// Explains with the facts of one host, because Redis is unavailable.
Why why_unavailable(const std::string& host, const std::string& error,
                    std::optional<WallTime> since, WallTime now,
                    std::string (*time_text)(WallTime time) = nullptr);

}  // namespace w8y
