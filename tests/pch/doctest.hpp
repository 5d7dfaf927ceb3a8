// As std.hpp, for the tests.
#include <doctest/doctest.h>

#include "std.hpp"
