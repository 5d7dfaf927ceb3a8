// Times that a rule has in a day, an hour or a minute: BYHOUR, BYMINUTE, BYSECOND.
#pragma once

#include <cstdint>
#include <vector>

namespace w8y::schedule {

/// Times in seconds from the start of that day, hour or minute, in order. They are all combinations
/// of the numbers, and are not stored one by one.
class Times {
 public:
  /// Each list is ascending, without duplicates and not empty. It is 0 alone if the rule steps by
  /// that unit.
  Times(std::vector<int> hours, std::vector<int> minutes, std::vector<int> seconds);

  std::int64_t size() const noexcept;
  int at(std::int64_t index) const;
  /// Index of the first time from `second` on; size() if there is none.
  std::int64_t first_from(int second) const;
  /// Keeps only the times at these positions, counted from 1, or from the end with -1.
  void keep(const std::vector<int>& positions);

 private:
  std::vector<int> hours_, minutes_, seconds_;
  std::vector<int> kept_;
  bool all_ = true;
};

}  // namespace w8y::schedule
