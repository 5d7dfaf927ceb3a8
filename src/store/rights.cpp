#include "store/rights.hpp"

#include <algorithm>
#include <iterator>

#include "core/escape.hpp"

namespace w8y::store {

namespace {

bool says(const redis::Answer& answer, std::string_view words) {
  return answer.error() != redis::ErrorCode::none &&
         answer.reply.text().find(words) != std::string_view::npos;
}

struct Writes {
  std::string_view command;
  const char* lost;
  const char* rule;  ///< ACL rule for the keys or the channel
};
constexpr Writes written[] = {
    {"LPUSH", "the history has no record of these runs", "~PREFIX:*"},
    {"LTRIM", "the history has no record of these runs", "~PREFIX:*"},
    {"LRANGE", "the history may have runs twice", "~PREFIX:*"},
    {"DEL", "the history may become larger than history_bytes", "~PREFIX:*"},
    {"RPUSH", "the history may become larger than history_bytes", "~PREFIX:*"},
    {"PEXPIRE", "old records of failed runs stay", "~PREFIX:*"},
    {"HRANDFIELD", "records of runs stay after their quarantine has ended", "~PREFIX:*"},
    {"PUBLISH", "no events and no wake-ups are published", "&PREFIX:*"},
    {"ZREM", "fleet slots stay in use until they expire", "~PREFIX:*"},
    {"HINCRBY", "failures are not counted", "~PREFIX:*"},
    {"HDEL", "failure counts are not reset", "~PREFIX:*"},
    {"HSET", "quarantines are not listed", "~PREFIX:*"},
};

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

}  // namespace

std::string missing_right(std::string_view refused) {
  const std::string_view command = refused.substr(0, refused.find(':'));
  const auto known = std::find_if(std::begin(written), std::end(written),
                                  [&](const Writes& each) { return each.command == command; });
  // Removes " script: SHA1, on @user_script:143.", a position in the script that does not help an
  // operator.
  const auto where = refused.find(", on @user_script");
  const auto end = where == std::string_view::npos ? where : refused.rfind(" script: ", where);
  std::string text(refused.substr(0, end));
  text.resize(std::min<std::size_t>(text.size(), 300));
  if (known == std::end(written)) return text;
  text += std::string("; ") + known->lost;
  if (has(refused, "WRONGTYPE"))
    return text + " until the key of a wrong type is renamed or deleted";
  std::string lower(command);
  for (char& c : lower) c = static_cast<char>(c - 'A' + 'a');
  // Redis names the missing permission, in the words of Redis 6 or 7.
  if (has(refused, "to run the") || has(refused, "can't run this command"))
    return text + ". The ACL of this user needs +" + lower;
  if (has(refused, "access") || has(refused, "channel"))
    return text + ". The ACL of this user needs " + known->rule +
           ", where PREFIX is the key prefix of the list";
  return text;
}

bool forbids_scripts(std::string_view error) {
  // Matches 'eval' and 'evalsha'.
  return error.starts_with("NOPERM") && has(error, "'eval");
}

std::string with_remedy(std::string_view error, std::string_view user) {
  std::string text(error);
  if (!forbids_scripts(error)) return text;
  return text + "; w8y needs " + script_permissions + ": grant them with `ACL SETUSER " +
         escape_text(user.empty() ? "default" : user) + ' ' + script_permissions + '`';
}

bool forbids_command(const redis::Answer& answer) {
  return says(answer, "permissions to run the") || says(answer, "can't run this command") ||
         says(answer, "this user needs the right to");
}

bool forbids(const redis::Answer& answer) {
  // Error of a command in a script, in the words of Redis 7.0 and 8.
  return answer.error() == redis::ErrorCode::noperm ||
         says(answer, "The user executing the script can't") ||
         says(answer, "ACL failure in script");
}

}  // namespace w8y::store
