// Lists that share a key prefix, by the config or by the list reports of the fleet.
#pragma once

#include <string>
#include <vector>

#include "core/schedule_settings.hpp"
#include "operator/query_context.hpp"

namespace w8y::verbs {

/// Returns the names of the lists with this key prefix, in ascending order, by the config,
/// otherwise by list reports. Throws QueryError or redis::RedisError if the fleet cannot be read.
std::vector<std::string> lists_with_key_prefix(const QueryContext& query,
                                               const std::string& key_prefix);

/// Returns the queues of the other lists with the key prefix of a list that is not in the config,
/// by list reports. There are none without permission to read the fleet, or if no host has the
/// list.
SharedKeyPrefix shared_in_fleet(const QueryContext& query, const std::string& list,
                                const std::string& key_prefix);

/// Throws QueryError 404 if the config has no list `name`, but lists with this key prefix.
/// Their pause, breaker and history are not in the keys of `name`.
void refuse_key_prefix(const QueryContext& query, const std::string& name);

/// Throws QueryError if `name` is the key prefix of lists by the config or by list reports, or if
/// the key prefix of the list `name` is not known. Otherwise, a change would write keys that no
/// host reads.
void check_key_prefix(const QueryContext& query, const std::string& name);

}  // namespace w8y::verbs
