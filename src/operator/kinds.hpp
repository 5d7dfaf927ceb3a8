// Verbs by kind of work: a row for each kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/changes.hpp"
#include "operator/error_changes.hpp"
#include "operator/items.hpp"
#include "operator/query_context.hpp"
#include "view/schedule_view.hpp"
#include "view/why.hpp"

namespace w8y::verbs {

struct RunJobResult {
  bool done = false;
  std::string text;  ///< one line: the effect, or the reason and the remedy
};

/// Verbs of a kind of work. Functions with a QueryContext may throw redis::RedisError and
/// QueryError.
struct KindVerbs {
  /// Copies the settings that verbs need of a list; nullptr = verbs need none.
  void (*copy_settings)(const ListConfig& rule, KnownList& into) = nullptr;

  // The next seven are nullptr if the items of the kind are not in Redis.
  /// Reads a page of items.
  void (*list_items)(QueryContext& query, const std::string& list, const ItemFilter& filter,
                     const PageRequest& part, ItemsPage& found) = nullptr;
  /// Reads one item with all details; nullopt: there is none.
  std::optional<view::ItemView> (*show_item)(QueryContext& query, const std::string& list,
                                             const Item& name) = nullptr;
  /// Reads the state of one item, for `why`.
  std::optional<view::ItemView> (*find_item)(QueryContext& query, const std::string& list,
                                             const Item& name) = nullptr;
  /// Reads statistics of the items, for `why`.
  WhyItems (*count_items)(QueryContext& query, const WhyList& list) = nullptr;
  /// Keeps the item of an active run from running again.
  void (*quarantine_run)(QueryContext& query, const view::RunView& run,
                         const ChangeNote& note) = nullptr;
  /// Reads the items in a state (empty: any state), at most `most` of them (0: all).
  view::ItemList (*all_items)(QueryContext& query, const std::string& list,
                              const std::string& state, std::size_t most) = nullptr;
  /// Changes the items of the error group `id`. Throws QueryError if the kind has no such change.
  std::vector<ChangedItem> (*change_group)(QueryContext& query, const std::string& list,
                                           const std::string& id, const std::vector<Item>& items,
                                           GroupChange change, const ChangeNote& note) = nullptr;

  /// Throws QueryError for the verbs of items of circular lists. The error names the subcommand
  /// that applies. nullptr = these verbs are for this kind.
  void (*refuse_items)(QueryContext& query, const std::string& list) = nullptr;
  /// The same for rerun_items(). `job`: the first item, as text.
  void (*refuse_rerun)(QueryContext& query, const std::string& list,
                       const std::string& job) = nullptr;

  /// Makes a job run as soon as possible, by a change in Redis. `next`: the job must become the
  /// next one in its queue. A schedule refuses this, and a feed always does it. nullptr = items of
  /// this kind are run by a command to a host.
  RunJobResult (*run_job)(QueryContext& query, const std::string& list, const Item& job,
                          bool next) = nullptr;
  /// Adds facts about the whole list, for `why`; nullptr = none.
  void (*add_facts)(QueryContext& query, WhyList& list) = nullptr;
  /// Reads the payloads of items: their first bytes, or all (`whole`). nullptr = items of this kind
  /// have no payload.
  void (*read_payloads)(QueryContext& query, const std::string& list,
                        std::vector<view::ItemView>& items, bool whole) = nullptr;
};

extern const KindVerbs circular_verbs;
extern const KindVerbs schedule_verbs;
extern const KindVerbs feed_verbs;

const KindVerbs& verbs_of(const KindTraits& kind);
const KindTraits& schedule_kind();
const KindTraits& feed_kind();

/// Returns the kind of a list by its keys in Redis; nullptr: Redis has none of its keys. A key that
/// the user has no permission to read counts as missing. In a cluster, a list without a hash tag
/// has no keys.
const KindTraits* kind_by_keys(const QueryContext& query, const std::string& prefix);
/// Returns the kind of a list by the config, otherwise by its keys; nullptr: the list is unknown.
const KindTraits* find_kind(QueryContext& query, const std::string& prefix);
/// Returns why a job of a paused list does not run.
std::string paused_text(const std::string& list);
/// As find_kind(), but an unknown list has the default kind.
const KindTraits& kind_or_default(QueryContext& query, const std::string& prefix);

}  // namespace w8y::verbs
