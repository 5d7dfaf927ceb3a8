// How much of what children say goes to the log.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <w8y/clock.hpp>

namespace w8y {

/// The lines of one talker. The limit is more than an honest program has to say. Beyond it, lines
/// are left out for a second at a time, so that those between can be read together.
class LineLimit {
 public:
  static constexpr std::size_t per_second = 1000;
  static constexpr std::size_t at_once = 10000;
  static constexpr Duration pause = std::chrono::seconds(1);

  explicit LineLimit(Instant now) : counted_(now) {}

  /// False: this line is left out.
  bool admits(Instant now);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// How many were left out; they are counted anew from here.
  std::size_t take_left_out();
  /// It has its whole credit again: forgetting it loses nothing.
  [[nodiscard]] bool rested(Instant now) const;

 private:
  static constexpr Duration line = Duration(std::chrono::seconds(1)) / per_second;
  static constexpr Duration most = line * at_once;

  Duration credit_ = most;
  Instant counted_;
  Instant silent_until_;
  std::size_t left_out_ = 0;
};

/// The limits of many talkers, by name. Keeps those who have talked lately.
class LineLimits {
 public:
  explicit LineLimits(const Clock& clock) : clock_(clock) {}

  struct Answer {
    bool admitted = true;
    std::size_t left_out = 0;  ///< if admitted: how many lines before it were not
  };
  Answer ask(std::string_view talker);
  /// The talker is gone. Returns how many lines were left out and not told yet.
  std::size_t over(std::string_view talker);
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  /// So that nobody is looked for by a copy of its name.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const Clock& clock_;
  std::unordered_map<std::string, LineLimit, Hash, std::equal_to<>> all_;
  std::size_t sweep_at_ = 64;
};

}  // namespace w8y
