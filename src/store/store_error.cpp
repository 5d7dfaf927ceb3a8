#include "store/store_error.hpp"

#include <algorithm>
#include <cstdint>

namespace w8y::store {

std::string ms_text(Duration life) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(life).count();
  return std::to_string(std::max<std::int64_t>(ms, life > Duration{0} ? 1 : 0));
}

std::optional<StoreError> trouble_of(const redis::Answer& answer) {
  if (answer.ok()) return std::nullopt;
  StoreError trouble;
  const bool unread = answer.failure == redis::Failure::reply_too_large;
  trouble.maybe_done = answer.failure == redis::Failure::lost || unread;
  trouble.never = answer.failure == redis::Failure::too_large;
  trouble.too_long = trouble.never || unread;
  trouble.code = answer.error();
  trouble.why = answer.problem();
  return trouble;
}

}  // namespace w8y::store
