#include "core/pause.hpp"

#include <array>
#include <ctime>

#include "core/units.hpp"

namespace w8y {

namespace {

constexpr const char* time_format = "%Y-%m-%dT%H:%M:%SZ";

std::string utc_text(WallTime time) {
  const std::time_t seconds = time.count() / 1000;
  tm utc{};
  std::array<char, 64> text{};
  if (gmtime_r(&seconds, &utc) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), time_format, &utc)};
}

std::optional<WallTime> utc_time(std::string_view text) {
  tm utc{};
  const std::string whole(text);
  const char* end = strptime(whole.c_str(), time_format, &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return WallTime(std::int64_t{timegm(&utc)} * 1000);
}

/// Removes " (by WHO since WHEN)" from the end of the value. Without a reason there is no leading
/// blank.
bool parse_author(std::string_view& value, Pause& pause) {
  if (!value.ends_with(')')) return false;
  const std::size_t start = value.rfind("(by ");
  const std::size_t since = value.rfind(" since ");
  if (start == std::string_view::npos || since == std::string_view::npos || since < start + 4)
    return false;
  if (start > 0 && value[start - 1] != ' ') return false;
  const auto time = utc_time(value.substr(since + 7, value.size() - since - 8));
  if (!time) return false;
  pause.by = value.substr(start + 4, since - start - 4);
  pause.since = *time;
  value = value.substr(0, start > 0 ? start - 1 : 0);
  return true;
}

}  // namespace

std::string pause_value(const Pause& pause) {
  std::string value = pause.reason;
  if (!value.empty()) value += ' ';
  return value + "(by " + pause.by + " since " + utc_text(pause.since) + ")";
}

Pause parse_pause(std::string_view value) {
  Pause pause;
  parse_author(value, pause);
  pause.reason = value;
  return pause;
}

std::string pause_text(const Pause& pause, WallTime now) {
  std::string text = pause.reason;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!pause.by.empty()) add("by " + pause.by);
  if (pause.since.count() > 0) add("for " + rough_duration(now - pause.since));
  if (pause.until.count() > 0) add(rough_duration(pause.until - now) + " left");
  return text;
}

}  // namespace w8y
