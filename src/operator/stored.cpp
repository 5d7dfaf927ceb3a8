#include "operator/stored.hpp"

#include <algorithm>
#include <cmath>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "schedule/schedule.hpp"

namespace w8y::verbs {

std::int64_t stored_number(std::string_view text) {
  return read_integer(text, {}).value_or(0);
}

std::optional<WallTime> time_of_run(const std::string& run) {
  static constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  if (run.size() != 26) return std::nullopt;
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    const auto digit = digits.find(run[i]);
    if (digit == std::string_view::npos || (i == 0 && digit > 7)) return std::nullopt;
    ms = ms * 32 + static_cast<std::int64_t>(digit);
  }
  return WallTime(ms);
}

std::string run_id_of(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::optional<WallTime> earliest_time(const std::string& start) {
  std::string id = start;
  id.resize(26, '0');
  return start.size() > id.size() ? std::nullopt : time_of_run(id);
}

std::optional<store::UnixSeconds> due_second(std::optional<double> score) {
  if (!score || !std::isfinite(*score)) return std::nullopt;
  const double limit = static_cast<double>(schedule::latest_time);
  return static_cast<store::UnixSeconds>(std::ceil(std::clamp(*score, 0.0, limit)));
}

void scan(redis::SyncClient& client, std::string_view command, const std::string& key,
          std::string_view count, const TakeElement& take) {
  const std::size_t of_element = command == "SSCAN" ? 1 : 2;
  std::string cursor = "0";
  do {
    redis::ReplyCopy page = client.call({command, key, cursor, "COUNT", count});
    cursor = page.elements.at(0).text;
    auto& found = page.elements.at(1).elements;
    for (std::size_t i = 0; i + of_element <= found.size(); i += of_element)
      if (!take(&found[i])) return;
  } while (cursor != "0");
}

redis::RedisError error_at(const std::string& what, redis::ErrorCode code, const std::string& key) {
  return redis::RedisError(
      what.starts_with("WRONGTYPE")
          ? "WRONGTYPE the key " + escape_text(key) + " is of a wrong type; rename or delete it"
          : what,
      code);
}

std::string item_text(const DisplayItem& item) {
  constexpr std::size_t whole = item_shown * 6;
  const std::string text = escape_text(item.beginning, whole);
  if (!item.is_truncated()) return text;
  return text + "… (the first " + std::to_string(item.beginning.size()) + " of " +
         std::to_string(item.length) + " bytes)";
}

}  // namespace w8y::verbs
