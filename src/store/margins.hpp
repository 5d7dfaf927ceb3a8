// Lease margins: the time left on a lease when its renewal was confirmed.
#pragma once

#include <algorithm>
#include <optional>

#include "core/clock.hpp"

namespace w8y::store {

class Margins {
 public:
  /// Minimum period that recent() covers. The maximum is twice as long.
  static constexpr Duration window = std::chrono::minutes(1);

  void note(Instant now, Duration margin) {
    turn(now);
    lower(least_, margin);
    lower(current_, margin);
  }
  /// Returns the minimum since the start.
  [[nodiscard]] std::optional<Duration> least() const { return least_; }
  /// Returns the minimum of the recent period; nullopt if no renewal was confirmed in it.
  [[nodiscard]] std::optional<Duration> recent(Instant now) {
    turn(now);
    std::optional<Duration> least = previous_;
    if (current_) lower(least, *current_);
    return least;
  }

 private:
  static void lower(std::optional<Duration>& least, Duration margin) {
    least = least ? std::min(*least, margin) : margin;
  }
  void turn(Instant now) {
    if (now < began_ + window) return;
    previous_ = now < began_ + 2 * window ? current_ : std::nullopt;
    current_.reset();
    began_ = now;
  }

  std::optional<Duration> least_;
  std::optional<Duration> current_;
  std::optional<Duration> previous_;
  Instant began_{};
};

}  // namespace w8y::store
