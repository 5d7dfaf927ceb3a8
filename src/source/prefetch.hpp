// How many items to claim before slots are free for them, so that no slot is unused while Redis
// executes the next claim.
#pragma once

#include <cstddef>

#include "core/source.hpp"

namespace w8y::source {

/// Returns the number at this rate; 0 for runs that are not very short.
[[nodiscard]] std::size_t prefetch(const RunRate& rate);

}  // namespace w8y::source
