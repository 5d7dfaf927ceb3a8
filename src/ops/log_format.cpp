#include "ops/log_format.hpp"

#include <spdlog/pattern_formatter.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base64.hpp"
#include "core/escape.hpp"

namespace w8y::ops {

namespace {

/// Maximum number of bytes of a line for time, level and punctuation.
constexpr std::size_t frame = 128;
constexpr std::size_t budget = max_log_line - frame;

template <typename Number>
std::string number_text(Number number) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), result.ptr};
}

struct PlainValue {
  std::string operator()(std::string_view text) const { return escape_text(text); }
  std::string operator()(const ChildOutput& said) const { return escape_text(said.text); }
  std::string operator()(const LoggedItem& item) const { return escape_text(item.beginning); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(double number) const { return number_text(number); }
  std::string operator()(std::int64_t number) const { return number_text(number); }
  std::string operator()(std::uint64_t number) const { return number_text(number); }
};

std::string plain_field(const LogField& field) {
  return ' ' + std::string(field.key) + '=' + std::visit(PlainValue{}, field.value);
}

/// Formats a field. If the value is not UTF-8, the field KEY_base64 has its exact bytes, as in the
/// protocol.
std::string json_field(const LogField& field) {
  std::string key(field.key);
  std::string value;
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    if (is_utf8(*text)) {
      value = escape_json(*text);
    } else {
      key += "_base64";
      value = '"' + base64_encode(text->substr(0, max_shown / 4 * 3)) + '"';
    }
  } else if (const auto* number = std::get_if<double>(&field.value);
             number != nullptr && !std::isfinite(*number)) {
    value = "null";
  } else {
    value = std::visit(PlainValue{}, field.value);
  }
  return ",\"" + key + "\":" + value;
}

/// Formats an item up to `most` bytes, and its length if it is truncated.
std::string item_field(LogFormat format, const LogField& field, std::size_t most) {
  const auto& item = std::get<LoggedItem>(field.value);
  const std::string key(field.key);
  constexpr std::size_t longest = item_shown * 6;  // "\u0001" for each byte
  const std::size_t room = std::min(most, longest);
  const bool json = format == LogFormat::json;
  const bool coded = json && !is_utf8(item.beginning);
  std::string text;
  bool cut = item.length > item.beginning.size();
  if (coded) {
    const std::size_t kept = std::min(item.beginning.size(), room / 4 * 3);
    cut = cut || kept < item.beginning.size();
    text = '"' + base64_encode(item.beginning.substr(0, kept)) + '"';
  } else {
    const auto escaped = [&](std::size_t size) {
      return json ? escape_json(item.beginning, size) : escape_text(item.beginning, size);
    };
    text = escaped(room);
    cut = cut || (item.beginning.size() * 6 > room && text != escaped(longest));
  }
  const std::string length = std::to_string(item.length);
  if (json) {
    const std::string name = key + (coded ? "_base64" : "");
    return ",\"" + name + "\":" + text + (cut ? ",\"" + key + "_length\":" + length : "");
  }
  return ' ' + key + '=' + text + (cut ? ' ' + key + "_length=" + length : "");
}

/// Formats the output of a child, truncated so that the line stays within its limit.
std::string output_field(LogFormat format, const LogField& field, std::size_t room) {
  const std::string_view said = std::get<ChildOutput>(field.value).text;
  const std::string key(field.key);
  constexpr std::size_t marks = 32;  // quotes, "_base64", "…"
  const std::size_t most = room > marks + key.size() ? room - marks - key.size() : 0;
  if (format != LogFormat::json) {
    const std::string text = escape_text(said, most);
    const bool quoted = text.starts_with('"');
    return ' ' + key + '=' + (quoted ? text : '"' + text + '"');
  }
  if (is_utf8(said)) return ",\"" + key + "\":" + escape_json(said, most);
  return ",\"" + key + "_base64\":\"" + base64_encode(said.substr(0, most / 4 * 3)) + '"';
}

class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& msg, const std::tm&,
              spdlog::memory_buf_t& dest) override {
    constexpr std::array<std::string_view, 5> names = {"trace", "debug", "info", "warn", "error"};
    const auto level = static_cast<std::size_t>(msg.level);
    const std::string_view name = level < names.size() ? names[level] : names.back();
    dest.append(name.data(), name.data() + name.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

/// Writes "<6>" in front of a line, its priority for the journal (sd-daemon(3)).
class Priority : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& msg, const std::tm&,
              spdlog::memory_buf_t& dest) override {
    dest.push_back(static_cast<char>('0' + journal_priority(msg.level)));
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Priority>();
  }
};

const char* pattern(LogFormat format, bool journal) {
  switch (format) {
    case LogFormat::logfmt:
      return "time=%Y-%m-%dT%H:%M:%S.%fZ level=%* %v";
    case LogFormat::json:
      return R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%*",%v})";
    case LogFormat::text:
      break;
  }
  return journal ? "<%@>%*: %v" : "%Y-%m-%dT%H:%M:%S.%fZ %*: %v";
}

}  // namespace

int journal_priority(spdlog::level::level_enum level) {
  constexpr std::array priorities = {7, 7, 6, 4, 3};
  const auto at = static_cast<std::size_t>(level);
  return at < priorities.size() ? priorities[at] : priorities.back();
}

bool has_long_item(LogFields fields) {
  return std::any_of(fields.begin(), fields.end(), [](const LogField& field) {
    const auto* item = std::get_if<LoggedItem>(&field.value);
    return item != nullptr && item->beginning.size() > max_shown / 4;
  });
}

std::string render_line(LogFormat format, std::string_view message, LogFields fields,
                        bool whole_items) {
  const bool json = format == LogFormat::json;
  std::string line;
  switch (format) {
    case LogFormat::text:
      line = escape(message, budget / 2);
      break;
    case LogFormat::logfmt:
      line = "msg=" + escape_text(message, budget / 2);
      break;
    case LogFormat::json:
      line = "\"msg\":" + escape_json(message, budget / 2);
      break;
  }
  constexpr std::string_view plain_cut = " cut=true";
  constexpr std::string_view json_cut = ",\"cut\":true";
  std::size_t most = budget;
  for (const LogField& field : fields) {
    if (std::holds_alternative<ChildOutput>(field.value)) {
      line += output_field(format, field, most - line.size());
      continue;
    }
    const bool is_item = std::holds_alternative<LoggedItem>(field.value);
    const std::string text =
        is_item ? item_field(format, field, whole_items ? std::string::npos : budget / 2)
        : json  ? json_field(field)
                : plain_field(field);
    if (is_item && whole_items) most += text.size();
    if (line.size() + text.size() + json_cut.size() > most) {
      line += json ? json_cut : plain_cut;
      break;
    }
    line += text;
  }
  return line;
}

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format, bool journal) {
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc, "\n");
  formatter->add_flag<LevelName>('*').add_flag<Priority>('@');
  formatter->set_pattern(pattern(format, journal));
  return formatter;
}

}  // namespace w8y::ops
