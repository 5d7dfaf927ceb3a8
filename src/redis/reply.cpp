#include "redis/reply.hpp"

#include <hiredis.h>

#include <utility>

#include "core/number.hpp"

namespace w8y::redis {

bool Reply::is_nil() const {
  return reply_ == nullptr || reply_->type == REDIS_REPLY_NIL;
}

bool Reply::is_error() const {
  return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR;
}

bool Reply::is_array() const {
  return reply_ != nullptr && reply_->type == REDIS_REPLY_ARRAY;
}

bool Reply::is_string() const {
  return reply_ != nullptr &&
         (reply_->type == REDIS_REPLY_STRING || reply_->type == REDIS_REPLY_STATUS);
}

bool Reply::is_integer() const {
  return reply_ != nullptr && reply_->type == REDIS_REPLY_INTEGER;
}

std::string_view Reply::text() const {
  if (!is_string() && !is_error()) return {};
  return {reply_->str, reply_->len};
}

std::int64_t Reply::integer() const {
  if (is_integer()) return reply_->integer;
  if (!is_string()) return 0;
  return read_integer(text(), range_of<std::int64_t>).value_or(0);
}

std::size_t Reply::size() const {
  return is_array() ? reply_->elements : 0;
}

Reply Reply::operator[](std::size_t index) const {
  return Reply(index < size() ? reply_->element[index] : nullptr);
}

std::int64_t server_time_us(std::int64_t seconds, std::int64_t us) {
  constexpr std::int64_t us_per_second = 1'000'000;
  const bool fits =
      read_integer(seconds, {0, seconds_range.max}) && read_integer(us, {0, us_per_second - 1});
  return fits ? seconds * us_per_second + us : 0;
}

std::int64_t server_time_us(const Reply& reply) {
  return server_time_us(reply[0].integer(), reply[1].integer());
}

WallTime server_time(const Reply& reply) {
  return WallTime(server_time_us(reply) / 1000);
}

ErrorCode error_code(std::string_view error) {
  static constexpr std::pair<std::string_view, ErrorCode> codes[] = {
      {"NOSCRIPT", ErrorCode::noscript},
      {"NOPERM", ErrorCode::noperm},
      {"NOAUTH", ErrorCode::noauth},
      {"WRONGPASS", ErrorCode::noauth},
      {"READONLY", ErrorCode::readonly},
      {"LOADING", ErrorCode::loading},
      {"OOM", ErrorCode::oom},
      {"BUSY", ErrorCode::busy},
      {"MASTERDOWN", ErrorCode::masterdown},
      {"CLUSTERDOWN", ErrorCode::clusterdown},
      {"MOVED", ErrorCode::moved},
      {"ASK", ErrorCode::ask},
      {"TRYAGAIN", ErrorCode::tryagain},
      {"MISCONF", ErrorCode::misconf},
      {"NOREPLICAS", ErrorCode::noreplicas},
  };
  // Redis 6 wraps the error of a script: "ERR Error running script (…): @user_script:8: -OOM …".
  constexpr std::string_view wrapped = "ERR Error running script";
  if (const auto at = error.find(": -"); error.starts_with(wrapped) && at != error.npos)
    error.remove_prefix(at + 2);
  if (error.starts_with('-')) error.remove_prefix(1);
  const std::string_view word = error.substr(0, error.find(' '));
  for (const auto& [name, code] : codes)
    if (word == name) return code;
  // A key that the script has named itself, in a hash slot that is being moved.
  if (error.starts_with("ERR Script attempted to access a non local key"))
    return ErrorCode::tryagain;
  // A script that was allowed but called a command that was not: "ERR ... NOPERM ..." stays other.
  return ErrorCode::other;
}

bool is_about_server(ErrorCode code) {
  switch (code) {
    case ErrorCode::readonly:
    case ErrorCode::loading:
    case ErrorCode::oom:
    case ErrorCode::busy:
    case ErrorCode::masterdown:
    case ErrorCode::clusterdown:
    case ErrorCode::moved:
    case ErrorCode::ask:
    case ErrorCode::tryagain:
    case ErrorCode::misconf:
    case ErrorCode::noreplicas:
    case ErrorCode::noauth:
      return true;
    case ErrorCode::none:
    case ErrorCode::noscript:
    case ErrorCode::noperm:
    case ErrorCode::other:
      break;
  }
  return false;
}

ErrorCode unfit(std::string_view error) {
  switch (const ErrorCode code = error_code(error)) {
    case ErrorCode::readonly:
    case ErrorCode::masterdown:
    case ErrorCode::noauth:
      return code;
    default:
      return ErrorCode::none;
  }
}

std::string Answer::problem() const {
  if (failure != Failure::none) return std::string(why);
  return reply.is_error() ? std::string(reply.text()) : std::string();
}

}  // namespace w8y::redis
