// Which list is meant, and its keys: as the config in force says, else as Redis has it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rule.hpp"
#include "operator/query_context.hpp"
#include "store/circular/keys.hpp"

namespace w8y::verbs {

/// All throw Refusal, with 404 for a list that is neither in the config nor in Redis.

/// The list of that name, else all of the config that the pattern fits; empty: all of the config.
std::vector<std::string> lists_of(QueryContext& query, const std::string& name_or_pattern);
/// A list of the config by the rule; of another one by the keys that it has.
SourceKind kind_of(QueryContext& query, const std::string& prefix);
/// After the name of a list of Gearman: why its jobs can't be shown or changed.
inline constexpr const char* jobs_are_gearmands =
    "is a list of Gearman, whose jobs are gearmand's and not in Redis; gearadmin --status counts "
    "them";
/// Of the config; nullptr: it is not there.
const Rule* rule_of(const QueryContext& query, const std::string& prefix);
store::CircularKeys circular_keys(const QueryContext& query, const std::string& prefix);

/// Throws Refusal with 400 for a state that no item of the list ever has; none is any.
void check_state(const std::string& list, const std::string& state,
                 std::span<const std::string_view> states);

}  // namespace w8y::verbs
