#include "store/store_error.hpp"

#include <algorithm>
#include <cstdint>

namespace w8y::store {

std::string ms_text(Duration life) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(life).count();
  return std::to_string(std::max<std::int64_t>(ms, life > Duration{0} ? 1 : 0));
}

StoreError refused_beside(std::string_view refused, bool done) {
  StoreError trouble;
  trouble.why = refused;
  const auto word = refused.find(": ");
  const auto code =
      redis::error_code(word == std::string_view::npos ? refused : refused.substr(word + 2));
  trouble.settled = done || !redis::is_about_server(code);
  if (!trouble.settled) {
    trouble.code = code;
    trouble.maybe_done = true;
  }
  return trouble;
}

std::optional<StoreError> trouble_of(const redis::Answer& answer) {
  if (answer.ok()) return std::nullopt;
  StoreError trouble;
  trouble.maybe_done =
      answer.failure == redis::Failure::lost || answer.failure == redis::Failure::reply_too_large;
  trouble.never = answer.failure == redis::Failure::too_large;
  trouble.code = answer.error();
  trouble.why = answer.problem();
  return trouble;
}

}  // namespace w8y::store
