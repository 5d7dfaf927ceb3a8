// How many lines of one talker go to the log: of a child, of one kind of fleet command.
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

/// One line each `interval`, and up to `at_once` lines after a time without any.
struct LineRate {
  Duration interval;
  std::size_t at_once;
};

/// Of a kind of command: more than operators give by hand.
inline constexpr LineRate command_rate{std::chrono::seconds(1), 100};

/// The lines of one talker. Beyond its rate, lines are left out for a second at a time, so that
/// those between can be read together.
class LineLimit {
 public:
  /// Of a child: more than an honest program has to say.
  static constexpr std::size_t per_second = 1000;
  static constexpr std::size_t at_once = 10000;
  static constexpr LineRate child_rate{Duration(std::chrono::seconds(1)) / per_second, at_once};
  static constexpr Duration pause = std::chrono::seconds(1);

  explicit LineLimit(Instant now, LineRate rate = child_rate)
      : line_(rate.interval),
        most_(rate.interval * static_cast<Duration::rep>(rate.at_once)),
        counted_(now) {}

  /// False: this line is left out.
  bool admits(Instant now);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// How many were left out; they are counted anew from here.
  std::size_t take_left_out();
  /// It has its whole credit again: forgetting it loses nothing.
  [[nodiscard]] bool rested(Instant now) const;

 private:
  Duration line_;
  Duration most_;
  Duration credit_ = most_;
  Instant counted_;
  Instant silent_until_;
  std::size_t left_out_ = 0;
};

/// The limits of many talkers, by name. Keeps those who have talked lately.
class LineLimits {
 public:
  explicit LineLimits(const Clock& clock, LineRate rate = LineLimit::child_rate)
      : clock_(clock), rate_(rate) {}

  struct Answer {
    bool admitted = true;
    std::size_t left_out = 0;  ///< if admitted: how many lines before it were not
  };
  Answer ask(std::string_view talker);
  /// The talker is gone. Returns how many lines were left out and not told yet.
  std::size_t over(std::string_view talker);
  /// Names of talkers and their numbers of dropped lines since the last call.
  std::vector<std::pair<std::string, std::size_t>> take_left_out();
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  /// So that nobody is looked for by a copy of its name.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const Clock& clock_;
  const LineRate rate_;
  std::unordered_map<std::string, LineLimit, Hash, std::equal_to<>> all_;
  std::size_t sweep_at_ = 64;
};

}  // namespace w8y
