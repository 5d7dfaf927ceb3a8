#pragma once

#include "core/clock.hpp"

namespace w8y::source {

/// Minimum delay of an item whose run could not start, regardless of its backoff. Otherwise a
/// program that cannot be started would be tried without a pause.
inline constexpr Duration least_rest_unstarted = std::chrono::seconds(1);

}  // namespace w8y::source
