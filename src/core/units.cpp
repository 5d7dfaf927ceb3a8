#include "core/units.hpp"

#include <array>
#include <charconv>

#include "core/ascii.hpp"

namespace w8y {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// In microseconds, the largest first: the order in which a duration is written.
constexpr std::array<Unit, 6> duration_units = {{{"d", 86'400'000'000},
                                                 {"h", 3'600'000'000},
                                                 {"m", 60'000'000},
                                                 {"s", 1'000'000},
                                                 {"ms", 1'000},
                                                 {"us", 1}}};
constexpr std::size_t seconds_unit = 3;
constexpr std::uint64_t max_duration = 36'500 * duration_units[0].factor;

// The largest first: a size is written in the first unit that divides it.
constexpr std::array<Unit, 12> size_units = {{{"PiB", std::uint64_t{1} << 50},
                                              {"PB", 1'000'000'000'000'000},
                                              {"TiB", std::uint64_t{1} << 40},
                                              {"TB", 1'000'000'000'000},
                                              {"GiB", std::uint64_t{1} << 30},
                                              {"GB", 1'000'000'000},
                                              {"MiB", std::uint64_t{1} << 20},
                                              {"MB", 1'000'000},
                                              {"KiB", std::uint64_t{1} << 10},
                                              {"KB", 1'000},
                                              {"kB", 1'000},
                                              {"B", 1}}};
constexpr std::uint64_t largest_size = std::uint64_t{1} << 63;

/// Removes digits from the start; nullopt if there are none or too many for 64 bits.
std::optional<std::uint64_t> parse_digits(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The decimals after a point, as a fraction of `scale`.
struct Fraction {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
};

/// Removes up to 8 decimals: more would overflow when multiplied by a day.
std::optional<Fraction> parse_fraction(std::string_view& text) {
  Fraction fraction;
  if (text.empty() || text.front() != '.') return fraction;
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const auto digits = parse_digits(text);
  const std::size_t count = before - text.size();
  if (!digits || count > 8) return std::nullopt;
  fraction.digits = *digits;
  for (std::size_t i = 0; i < count; ++i) fraction.scale *= 10;
  return fraction;
}

/// Returns the index of the unit at the start of `text`, and removes its letters.
std::optional<std::size_t> parse_duration_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && !core::is_digit(text[length])) ++length;
  const std::string_view name = text.substr(0, length);
  for (std::size_t i = 0; i < duration_units.size(); ++i) {
    if (duration_units[i].name != name) continue;
    text.remove_prefix(length);
    return i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  std::uint64_t total = 0;
  std::size_t next_unit = 0;
  if (text.empty()) return std::nullopt;
  const bool bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  while (!text.empty()) {
    const auto whole = parse_digits(text);
    const auto fraction = whole ? parse_fraction(text) : std::nullopt;
    if (!fraction) return std::nullopt;
    const auto unit = bare ? (text.empty() ? std::optional(seconds_unit) : std::nullopt)
                           : parse_duration_unit(text);
    if (!unit || *unit < next_unit) return std::nullopt;
    // Only the last part may have decimals: "1h1.5m" is valid, "1.5h1m" is not.
    if (fraction->scale > 1 && !text.empty()) return std::nullopt;
    const std::uint64_t factor = duration_units[*unit].factor;
    if (*whole > max_duration / factor) return std::nullopt;
    // Rounds up, so that a positive duration never becomes "0s", which means "none" in many keys.
    total += *whole * factor + (fraction->digits * factor + fraction->scale - 1) / fraction->scale;
    if (total > max_duration) return std::nullopt;
    next_unit = *unit + 1;
  }
  return Duration(static_cast<Duration::rep>(total));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto number = parse_digits(text);
  if (!number) return std::nullopt;
  if (text.empty()) text = "B";
  for (const Unit& unit : size_units) {
    if (unit.name != text) continue;
    if (*number > largest_size / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

namespace {

/// Returns "1.5s" for 1500 ms: without trailing zeros.
std::string with_decimals(std::uint64_t value, std::uint64_t factor) {
  std::string text = std::to_string(value / factor);
  std::uint64_t rest = value % factor;
  if (rest == 0) return text;
  text += '.';
  while (rest != 0) {
    rest *= 10;
    text += static_cast<char>('0' + rest / factor);
    rest %= factor;
  }
  return text;
}

}  // namespace

std::string format_duration(Duration duration) {
  if (duration < Duration::zero()) return "-" + format_duration(-duration);
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (rest == 0) return "0s";
  std::string text;
  for (std::size_t i = 0; i < seconds_unit; ++i) {
    const Unit& unit = duration_units[i];
    if (rest < unit.factor) continue;
    text += std::to_string(rest / unit.factor);
    text += unit.name;
    rest %= unit.factor;
  }
  if (rest == 0) return text;
  std::size_t last = seconds_unit;
  while (text.empty() && rest < duration_units[last].factor) ++last;
  text += with_decimals(rest, duration_units[last].factor);
  text += duration_units[last].name;
  return text;
}

std::string rough_duration(Duration duration) {
  using namespace std::chrono_literals;
  if (duration < 0ms) return "0s";
  const Duration step = duration >= 24h  ? Duration(1h)
                        : duration >= 1h ? Duration(1min)
                        : duration >= 1s ? Duration(1s)
                                         : Duration(1ms);
  return format_duration(duration / step * step);
}

std::string format_size(std::uint64_t bytes) {
  for (const Unit& unit : size_units) {
    if (bytes == 0 || bytes % unit.factor != 0) continue;
    return std::to_string(bytes / unit.factor).append(unit.name);
  }
  return "0B";
}

}  // namespace w8y
