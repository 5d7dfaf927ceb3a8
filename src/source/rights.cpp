#include "source/rights.hpp"

namespace w8y::source {

namespace {

bool says(const redis::Answer& answer, std::string_view words) {
  return answer.error() != redis::ErrorCode::none &&
         answer.reply.text().find(words) != std::string_view::npos;
}

}  // namespace

bool forbids_scripts(const redis::Answer& answer) {
  // 'eval' and 'evalsha'.
  return answer.error() == redis::ErrorCode::noperm && says(answer, "'eval");
}

bool forbids_command(const redis::Answer& answer) {
  return says(answer, "permissions to run the") || says(answer, "can't run this command") ||
         says(answer, "this user needs the right to");
}

bool forbids(const redis::Answer& answer) {
  // Of a command in a script, Redis 7.0 and 8.
  return answer.error() == redis::ErrorCode::noperm ||
         says(answer, "The user executing the script can't") ||
         says(answer, "ACL failure in script");
}

}  // namespace w8y::source
