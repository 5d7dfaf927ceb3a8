// Reads numbers from outside within a range. A number outside its range is rejected, so that no
// cast, sum or change of unit overflows.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Times and durations in milliseconds: from 0 to the end of the year 9999. The sum of 30 of them
/// fits in 64 bits, also in microseconds.
inline constexpr IntegerRange ms_range{0, 253'402'300'799'999};
/// Differences between two times.
inline constexpr IntegerRange signed_ms_range{-ms_range.max, ms_range.max};
/// Unix times in seconds, as in jobs of a schedule.
inline constexpr IntegerRange seconds_range{-ms_range.max / 1000, ms_range.max / 1000};
/// Counts that are added or multiplied: a double represents them exactly.
inline constexpr IntegerRange count_range{0, std::int64_t{1} << 53U};
/// All values of a type that fit in 64 bits with a sign.
template <typename Number>
inline constexpr IntegerRange range_of{
    std::numeric_limits<Number>::min(),
    std::numeric_limits<Number>::digits > 63
        ? std::numeric_limits<std::int64_t>::max()
        : static_cast<std::int64_t>(std::numeric_limits<Number>::max())};

// nullopt = not a number, or outside the range.

constexpr std::optional<std::int64_t> read_integer(std::int64_t number, IntegerRange range) {
  return number < range.min || number > range.max ? std::nullopt : std::optional(number);
}

/// Truncates the fraction.
constexpr std::optional<std::int64_t> read_integer(double number, IntegerRange range) {
  constexpr double limit = 9'223'372'036'854'775'808.0;  // 2^63; NaN passes neither comparison
  if (!(number >= -limit && number < limit)) return std::nullopt;
  return read_integer(static_cast<std::int64_t>(number), range);
}

/// Parses the whole of `text` as decimal digits.
inline std::optional<std::int64_t> read_integer(std::string_view text, IntegerRange range) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return read_integer(number, range);
}

/// Reads an integral value of nlohmann's JSON.
template <typename Json>
requires requires(const Json& value) {
  value.is_number_unsigned();
}
std::optional<std::int64_t> read_integer(const Json& value, IntegerRange range) {
  if (value.is_number_unsigned()) {
    const auto number = value.template get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return read_integer(static_cast<std::int64_t>(number), range);
  }
  if (value.is_number_integer()) return read_integer(value.template get<std::int64_t>(), range);
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.template get<double>();
  return std::trunc(number) == number ? read_integer(number, range) : std::nullopt;
}

/// Reads a time or a duration in milliseconds, from any of the types above.
template <typename Foreign>
std::optional<WallTime> read_ms(const Foreign& foreign, IntegerRange range = ms_range) {
  const auto number = read_integer(foreign, range);
  return number ? std::optional(WallTime(*number)) : std::nullopt;
}

/// Parses the whole of `text`, as Redis writes scores of sorted sets, including "inf".
inline std::optional<double> read_real(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

/// Reads a time that a Thoonk client may have written in seconds: values below 1e11 are seconds
/// (w8y-keys(7)).
inline std::optional<WallTime> read_score_time(std::string_view text) {
  const auto number = read_real(text);
  if (!number) return std::nullopt;
  return read_ms(*number < 1e11 ? *number * 1000 : *number);
}

}  // namespace w8y
