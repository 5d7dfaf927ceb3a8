// Reads the statistics over time of a list or of the fleet.
#pragma once

#include <optional>
#include <string>

#include "operator/query_context.hpp"
#include "view/statistics.hpp"

namespace w8y::verbs {

/// Returns the statistics of a list; nullopt: of all lists of the fleet. Throws QueryError, 404, if
/// the list is unknown, and redis::RedisError.
view::Statistics read_statistics(QueryContext& query, const std::optional<std::string>& list,
                                 const view::Span& span);

}  // namespace w8y::verbs
