#pragma once

#include "core/clock.hpp"

namespace w8y::source {

/// An item whose run never began rests for as long, whatever its backoff: else a program that can't
/// be started would be tried without a pause.
inline constexpr Duration least_rest_unstarted = std::chrono::seconds(1);

}  // namespace w8y::source
