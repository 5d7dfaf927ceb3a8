#include "core/pattern.hpp"

#include <doctest/doctest.h>

using namespace w8y::core;

TEST_CASE("a pattern matches names") {
  CHECK(fits("media:*", "media:thumbs"));
  CHECK(fits("media:*", "media:"));
  CHECK_FALSE(fits("media:*", "media"));
  CHECK(fits("*", ""));
  CHECK(fits("*a*b*", "xxaybzz"));
  CHECK_FALSE(fits("*a*b", "xxaybz"));
  CHECK(fits("*ab", "aaab"));
  CHECK(fits("gpu-??", "gpu-07"));
  CHECK_FALSE(fits("gpu-??", "gpu-7"));
  CHECK(fits("?", "ü"));
  CHECK(fits("?x", "\xffx"));
  CHECK(fits("plain", "plain"));
  CHECK_FALSE(fits("plain", "plainer"));
  CHECK_FALSE(fits("", "x"));
  CHECK(fits("", ""));
}

TEST_CASE("a name is a pattern if it contains * or ?") {
  CHECK(is_pattern("media:*"));
  CHECK(is_pattern("gpu-?"));
  CHECK_FALSE(is_pattern("a[b]c"));
}
