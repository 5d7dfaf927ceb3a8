// How many items to claim before slots are free for them, so that no slot is unused while Redis
// executes the next claim.
#pragma once

#include <cstddef>

#include "core/source.hpp"

namespace w8y::source {

/// Returns the number for a list whose runs take that long; 0 for runs that are not very short.
[[nodiscard]] std::size_t prefetch(const RunRate& rate);

}  // namespace w8y::source
