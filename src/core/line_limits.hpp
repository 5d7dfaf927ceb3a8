// Limits the log lines of one sender: a child, or one kind of fleet command.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.hpp"

namespace w8y {

/// Rate limit: one line per `interval`, and up to `at_once` lines after a time without lines.
struct LineRate {
  Duration interval;
  std::size_t at_once;
};

/// Limit for one kind of command: more than operators give by hand.
inline constexpr LineRate command_rate{std::chrono::seconds(1), 100};

/// Rate limit of the lines of one sender. Above the rate, lines are dropped for one second at a
/// time, so that the lines between stay consecutive.
class LineLimit {
 public:
  /// Limit for a child: more than a correct program needs.
  static constexpr std::size_t per_second = 1000;
  static constexpr std::size_t at_once = 10000;
  static constexpr LineRate child_rate{Duration(std::chrono::seconds(1)) / per_second, at_once};
  static constexpr Duration pause = std::chrono::seconds(1);

  explicit LineLimit(Instant now, LineRate rate = child_rate)
      : line_(rate.interval),
        most_(rate.interval * static_cast<Duration::rep>(rate.at_once)),
        counted_(now) {}

  /// Returns false if this line is dropped.
  bool admits(Instant now);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// Returns the number of dropped lines and resets it to 0.
  std::size_t drain_omitted();
  /// Returns true if the limit is in its initial state, so that it can be deleted.
  [[nodiscard]] bool rested(Instant now) const;

 private:
  Duration line_;
  Duration most_;
  Duration credit_ = most_;
  Instant counted_;
  Instant silent_until_;
  std::size_t left_out_ = 0;
};

/// Rate limits of several senders, by name. Unused limits are deleted.
class LineLimits {
 public:
  explicit LineLimits(const Clock& clock, LineRate rate = LineLimit::child_rate)
      : clock_(clock), rate_(rate) {}

  struct Answer {
    bool admitted = true;
    std::size_t left_out = 0;  ///< number of lines that were dropped before it; 0 unless admitted
  };
  Answer admit(std::string_view talker);
  /// Deletes the limit of a sender that has ended. Returns the number of dropped lines that were
  /// not reported.
  std::size_t remove(std::string_view talker);
  /// Returns the names of senders and their numbers of dropped lines since the last call.
  std::vector<std::pair<std::string, std::size_t>> drain_omitted();
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  /// Allows lookups without a copy of the name.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const Clock& clock_;
  const LineRate rate_;
  std::unordered_map<std::string, LineLimit, Hash, std::equal_to<>> all_;
  std::size_t sweep_at_ = 64;
};

}  // namespace w8y
