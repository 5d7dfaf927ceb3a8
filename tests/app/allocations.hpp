// Number of memory allocations of this program.
#pragma once

#include <cstddef>

namespace w8y::test {

std::size_t allocations();

}  // namespace w8y::test
