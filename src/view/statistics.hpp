// Statistics of a list or a fleet over time: buckets, and marks of events beside them
// (w8y-keys(7)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/duration_bins.hpp"

namespace w8y::view {

/// Period of statistics, divided into buckets. `length`: of a bucket, in minutes.
struct Span {
  const char* name;
  char field;  ///< first character of the buckets' fields in Redis
  std::int64_t length;
  std::int64_t buckets;
};
inline constexpr Span span_hour{"hour", 'm', 1, 60};
inline constexpr Span span_day{"day", 'h', 30, 48};

struct StatisticsBucket {
  WallTime at{0};  ///< its start, by the clock of Redis
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;
  DurationBins durations;
  DurationBins cycles;

  /// Adds the counts of another bucket.
  void add(const StatisticsBucket& more);
};
/// Parses the text of a bucket in Redis. nullopt: invalid.
std::optional<StatisticsBucket> read_bucket(std::string_view text);

/// Event that may explain a change of the statistics.
struct StatisticsMark {
  enum class Kind {
    start,   ///< w8yd started with another version
    reload,  ///< w8yd applied a changed config
    breaker  ///< the breaker of a list opened
  };
  static constexpr std::size_t max_text = 256;  ///< bytes
  WallTime at{0};                               ///< by the clock of Redis
  Kind kind = Kind::start;
  std::string host;                 ///< empty: all hosts
  std::optional<std::string> list;  ///< nullopt: all lists
  std::string text;
};
/// Maximum number of marks that are kept.
inline constexpr std::size_t max_marks = 256;
/// Maximum number of bytes of a mark in Redis.
inline constexpr std::size_t max_mark = 2048;
const char* kind_name(StatisticsMark::Kind kind);
/// Returns a JSON object for Redis.
std::string to_text(const StatisticsMark& mark);
/// Parses the output of to_text(). nullopt: invalid.
std::optional<StatisticsMark> read_mark(std::string_view text);

struct Statistics {
  std::optional<std::string> list;  ///< nullopt: all lists of the fleet
  Span span = span_hour;
  WallTime now{0};                        ///< time of the query, by the clock of Redis
  std::vector<StatisticsBucket> buckets;  ///< without gaps, the oldest first
  std::vector<StatisticsMark> marks;      ///< the oldest first

  [[nodiscard]] StatisticsBucket total() const;
};
/// Returns an object of GET /api/v1/statistics.
std::string to_json(const Statistics& statistics);

}  // namespace w8y::view
