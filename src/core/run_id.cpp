#include "core/run_id.hpp"

namespace w8y {

RunId RunIds::next(WallTime now) {
  const auto ms = static_cast<std::uint64_t>(std::max<WallTime::rep>(now.count(), 0));
  if (ms > last_ms_) {
    last_ms_ = ms;
    // The top bit stays 0, so that counting within a millisecond cannot overflow.
    high_ = random_() & 0x7FFFU;
    low_ = random_();
  } else if (++low_ == 0) {  // also after the clock was set back: IDs keep increasing
    ++high_;
  }

  static constexpr char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  std::array<char, 26> id;
  std::uint64_t time = last_ms_;
  for (std::size_t i = 10; i-- > 0; time >>= 5U) id[i] = digits[time & 31U];
  std::uint64_t high = high_;
  std::uint64_t low = low_;
  for (std::size_t i = 26; i-- > 10;) {
    id[i] = digits[low & 31U];
    low = (low >> 5U) | (high << 59U);
    high >>= 5U;
  }
  return std::string_view(id.data(), id.size());
}

}  // namespace w8y
