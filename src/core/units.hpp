// Durations and sizes in their text form: "1h30m", "64KiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

/// Parses a duration: "250ms", "5s", "1h30m", "2d", "1.5s". Units are us, ms, s, m, h, d, the
/// largest first, each once. The last number may have up to 8 decimals. A number without a unit is
/// in seconds. Returns nullopt for other texts, negative values and values over 100 years.
std::optional<Duration> parse_duration(std::string_view text);
/// Parses a size: "64KiB", "2GiB", "10MB", "512B", "100". Returns nullopt for other texts, negative
/// values and values over 2^63.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Return a short text that parses to the same value: "1h30m", "250ms", "1.5s", "0s"; "64KiB",
/// "10MB", "513B".
std::string format_duration(Duration duration);
/// Returns the two largest units, for people: "2h5m", "3s", "120ms". A negative duration is shown
/// as 0.
std::string rough_duration(Duration duration);
std::string format_size(std::uint64_t bytes);

}  // namespace w8y
