// How much one question may cost. A text from Redis must not hold the loop up, whatever it says.
#pragma once

#include <cstdint>

namespace w8y::schedule {

class WorkBudget {
 public:
  /// A step is some ten nanoseconds: a look at a day, a week, an hour.
  explicit WorkBudget(std::int64_t steps = 3'000'000) noexcept : left_(steps) {}

  /// False: it is used up, and the question stays without an answer.
  bool spend(std::int64_t steps = 1) noexcept {
    left_ -= steps;
    return left_ > 0;
  }
  bool used_up() const noexcept { return left_ <= 0; }

 private:
  std::int64_t left_;
};

}  // namespace w8y::schedule
