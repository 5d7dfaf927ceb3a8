// Resolves the name of a list to its kind and keys, by the config, otherwise by Redis.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/list_config.hpp"
#include "operator/query_context.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

/// All functions throw QueryError.

/// Returns the list of that name, otherwise all known lists that match the pattern; nullopt: all
/// known lists. Refuses an unknown name with 404, as it is most likely a typo. If no lists are
/// known, returns any name unchanged.
std::vector<std::string> lists_of(QueryContext& query,
                                  const std::optional<std::string>& name_or_pattern);
/// Throws QueryError 404 if neither the config, a host of the fleet nor Redis has the list, or if
/// it is only the key prefix of lists. The error suggests the list with the nearest name.
void check_known(QueryContext& query, const std::string& prefix);
/// Returns `; did you mean NAME?` with the nearest list of the config or the fleet; empty: no list
/// has a similar name.
std::string near_list(const QueryContext& query, const std::string& name);
/// As find_kind(), but refuses an unknown list, and a name that is only the key prefix of lists,
/// with 404.
const KindTraits& kind_of(QueryContext& query, const std::string& prefix);
/// As kind_of(), but throws QueryError, 409, for a list of Gearman: its jobs are not in Redis.
const KindTraits& kind_with_items(QueryContext& query, const std::string& prefix);
/// Throws the QueryError of kind_with_items().
[[noreturn]] void refuse_gearman(const std::string& prefix);
/// Returns the queues of a schedule; empty if they are not known.
std::vector<std::string> queues_of(const QueryContext& query, const std::string& prefix);

/// Returns whether a host of the fleet has the list in its config.
bool is_in_fleet(const QueryContext& query, const std::string& prefix);
/// Returns whether Redis has keys of a list of any kind with this key prefix.
bool has_keys(const QueryContext& query, const std::string& prefix);

/// In a cluster, refuses a name that has no hash tag with 400.
void check_hash_tag(const QueryContext& query, const std::string& prefix);
/// The same for the name of a feed.
void check_feed_tag(const QueryContext& query, const std::string& feed);
/// Returns whether the config has a list of jobs with this feed.
bool is_feed_of_config(const QueryContext& query, const std::string& feed);
/// Returns the channel of the events of runs of a list, after check_hash_tag().
std::string events_channel(const QueryContext& query, const std::string& prefix);
/// Returns the keys of a list of any kind, after check_hash_tag().
store::CircularKeys circular_keys(const QueryContext& query, const std::string& prefix);
/// Returns the keys for work with items. Throws QueryError, 409, for a list that is not circular:
/// its jobs have subcommands of their own.
store::CircularKeys item_keys(QueryContext& query, const std::string& prefix);

/// Refuses a state that no item of the list can have with 400; empty: any state. `option`: the
/// name of the parameter, such as "?state=".
void check_state(const std::string& list, const std::string& state,
                 std::span<const std::string_view> states, const char* option = "?state=");

}  // namespace w8y::verbs
