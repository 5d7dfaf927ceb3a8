// A time, or none.
#pragma once

#include <w8y/clock.hpp>

namespace w8y::source {

/// As std::optional<Instant>, in half of its room: each of ten thousand lists has several.
class Moment {
 public:
  Moment() = default;
  Moment& operator=(Instant at) {
    at_ = at;
    return *this;
  }
  explicit operator bool() const { return at_ != none; }
  Instant operator*() const { return at_; }
  void reset() { at_ = none; }

 private:
  static constexpr Instant none = Instant::min();
  Instant at_ = none;
};

}  // namespace w8y::source
