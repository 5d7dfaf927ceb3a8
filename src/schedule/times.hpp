// The times that a rule gives a day, an hour or a minute: BYHOUR, BYMINUTE, BYSECOND.
#pragma once

#include <cstdint>
#include <vector>

namespace w8y::schedule {

/// In seconds from the beginning of that day, hour or minute; ordered. All combinations of what it
/// was made of, which are not kept one by one.
class Times {
 public:
  /// Each in ascending order, without doubles, not empty. 0 alone where the rule steps by that
  /// unit.
  Times(std::vector<int> hours, std::vector<int> minutes, std::vector<int> seconds);

  std::int64_t size() const noexcept;
  int at(std::int64_t index) const;
  /// Which is the first one from `second` on; size(): none.
  std::int64_t first_from(int second) const;
  /// Only those at these positions stay, counted from 1, or from the end by -1.
  void keep(const std::vector<int>& positions);

 private:
  std::vector<int> hours_, minutes_, seconds_;
  std::vector<int> kept_;
  bool all_ = true;
};

}  // namespace w8y::schedule
