// Limit of the cost of one computation, so that no text from Redis can delay the loop.
#pragma once

#include <cstdint>

namespace w8y::schedule {

class WorkBudget {
 public:
  /// A step takes some ten nanoseconds: the check of a day, a week or an hour.
  explicit WorkBudget(std::int64_t steps = 3'000'000) noexcept : left_(steps) {}

  /// False: the budget is used up, and the computation has no result.
  bool spend(std::int64_t steps = 1) noexcept {
    left_ -= steps;
    return left_ > 0;
  }
  bool used_up() const noexcept { return left_ <= 0; }

 private:
  std::int64_t left_;
};

}  // namespace w8y::schedule
