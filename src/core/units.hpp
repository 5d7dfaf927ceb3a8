// Durations and sizes as people write them: "1h30m", "64KiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y {

/// "250ms", "5s", "1h30m", "2d", "1.5s"; units us, ms, s, m, h, d, largest first, each once; the
/// last number may have decimals (8 at most). A bare number is seconds. nullopt: not a duration,
/// negative, or over 100 years.
std::optional<Duration> parse_duration(std::string_view text);
/// "64KiB", "2GiB", "10MB", "512B", "100". nullopt: not a size, negative, or over 2^63.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A short text that parses to the same: "1h30m", "250ms", "1.5s", "0s"; "64KiB", "10MB", "513B".
std::string format_duration(Duration duration);
/// For people: its two largest units: "2h5m", "3s", "120ms". Nothing below zero.
std::string rough_duration(Duration duration);
std::string format_size(std::uint64_t bytes);

}  // namespace w8y
