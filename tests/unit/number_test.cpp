#include "core/number.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string_view>

using namespace w8y;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
using Json = nlohmann::json;

namespace number_test {
namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
constexpr IntegerRange all = range_of<std::int64_t>;

}  // namespace

TEST_CASE("a text is an integer if all of it is a number in the range") {
  CHECK(read_integer("0"sv, {}) == 0);
  CHECK(read_integer("-1"sv, all) == -1);
  CHECK(read_integer("9223372036854775807"sv, {}) == largest);
  CHECK(read_integer("-9223372036854775808"sv, all) == smallest);
  CHECK(read_integer("100"sv, {1, 100}) == 100);
  for (const auto text :
       {""sv, " 1"sv, "1 "sv, "+1"sv, "1.0"sv, "1e3"sv, "0x10"sv, "nan"sv, "inf"sv, "1\0"sv, "-1"sv,
        "9223372036854775808"sv, "99999999999999999999"sv}) {
    CAPTURE(text);
    CHECK_FALSE(read_integer(text, {}).has_value());
  }
  CHECK_FALSE(read_integer("0"sv, {1, 100}).has_value());
  CHECK_FALSE(read_integer("101"sv, {1, 100}).has_value());
}

TEST_CASE("a double that is out of range, infinite or not a number is refused") {
  CHECK(read_integer(2.9, all) == 2);
  CHECK(read_integer(-2.9, all) == -2);
  CHECK(read_integer(-9223372036854775808.0, all) == smallest);
  for (const double number : {1e300, -1e300, 9223372036854775808.0, -9223372036854777856.0,
                              std::nan(""), HUGE_VAL, -HUGE_VAL})
    CHECK_FALSE(read_integer(number, all).has_value());
  CHECK_FALSE(read_integer(-1.0, {}).has_value());
  CHECK_FALSE(read_integer(101.0, {1, 100}).has_value());
}

TEST_CASE("a JSON value is an integer if it is a whole number in the range") {
  const auto read = [](std::string_view text, IntegerRange range) {
    return read_integer(Json::parse(text), range);
  };
  CHECK(read("7", {}) == 7);
  CHECK(read("-7", all) == -7);
  CHECK(read("7.0", {}) == 7);
  CHECK(read("1e3", {}) == 1000);
  CHECK(read("9223372036854775807", {}) == largest);
  for (const char* text : {"9223372036854775808", "18446744073709551615", "1e300", "-1e300", "-1",
                           "7.5", "\"7\"", "null", "true", "[]", "{}"}) {
    CAPTURE(text);
    CHECK_FALSE(read(text, {}).has_value());
  }
}

TEST_CASE("a time in the range can be converted to microseconds and added to others") {
  for (const std::int64_t ms : {std::int64_t{0}, ms_range.max}) {
    const auto time = read_ms(ms);
    REQUIRE(time.has_value());
    CHECK((Duration(*time) + Duration(*time) * 20).count() == ms * 21'000);
  }
  CHECK_FALSE(read_ms(std::int64_t{-1}).has_value());
  CHECK_FALSE(read_ms(largest).has_value());
  CHECK_FALSE(read_ms(ms_range.max + 1).has_value());
  CHECK_FALSE(read_ms(1e300).has_value());
  CHECK(read_ms(Json(-5), signed_ms_range) == -5ms);
  CHECK_FALSE(read_ms(Json(smallest), signed_ms_range).has_value());
}

TEST_CASE("a score is a time in seconds or in milliseconds") {
  CHECK(read_score_time("1700000000") == 1'700'000'000'000ms);
  CHECK(read_score_time("1700000000.5") == 1'700'000'000'500ms);
  CHECK(read_score_time("1700000000123") == 1'700'000'000'123ms);
  for (const char* text : {"", "x", "nan", "inf", "-inf", "-1", "1e300", "1e400", "9e18"}) {
    CAPTURE(text);
    CHECK_FALSE(read_score_time(text).has_value());
  }
  CHECK(read_real("inf") == HUGE_VAL);
  CHECK_FALSE(read_real("1e400").has_value());
  CHECK_FALSE(read_real("1x").has_value());
}

TEST_CASE("the range of a type contains all its values that fit into a signed 64-bit integer") {
  CHECK(range_of<unsigned>.max == 4294967295);
  CHECK(range_of<unsigned>.min == 0);
  CHECK(range_of<int>.min == -2147483648);
  CHECK(range_of<std::uint64_t>.max == largest);
  CHECK(range_of<std::int64_t>.min == smallest);
}

}  // namespace number_test
