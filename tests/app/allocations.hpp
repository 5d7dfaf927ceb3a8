// How often this program has taken memory.
#pragma once

#include <cstddef>

namespace w8y::test {

std::size_t allocations();

}  // namespace w8y::test
