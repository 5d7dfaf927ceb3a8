// Which list is meant, and its keys: as the config says, else as Redis has it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule.hpp"
#include "operator/query_context.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

/// All throw Refusal.

/// The list of that name, else all known lists that the pattern fits; nullopt: all known lists.
/// Refuses a name that nothing has, 404: it is a slip, most likely. Where no lists are known, any
/// name is taken as it is.
std::vector<std::string> lists_of(QueryContext& query,
                                  const std::optional<std::string>& name_or_pattern);
/// By the config, else by the keys that it has; nullopt: nobody knows it.
std::optional<SourceKind> find_kind(QueryContext& query, const std::string& prefix);
/// The same. Refuses one that nobody knows, 404.
SourceKind kind_of(QueryContext& query, const std::string& prefix);
/// The same. Refuses a list of Gearman, 409: its jobs are not in Redis.
SourceKind kind_with_items(QueryContext& query, const std::string& prefix);
/// Queues of a schedule; empty if they are not known.
std::vector<std::string> queues_of(const QueryContext& query, const std::string& prefix);

/// Keys of a list of any kind. In a cluster, refuses a name without a hash tag, 400.
store::CircularKeys circular_keys(const QueryContext& query, const std::string& prefix);
/// The same, for what is done with items. Refuses a list of another kind, 409: its jobs have
/// commands of their own.
store::CircularKeys item_keys(QueryContext& query, const std::string& prefix);

/// Refuses a state that no item of the list ever has, 400; an empty one is any. `option`: of the
/// state, such as "?state=".
void check_state(const std::string& list, const std::string& state,
                 std::span<const std::string_view> states, const char* option = "?state=");

}  // namespace w8y::verbs
