#include "core/message.hpp"

#include <exception>
#include <vector>

#include "core/json_text.hpp"
#include "core/units.hpp"

namespace w8y {

namespace {

using json_text::Member;
using Members = std::vector<Member>;

/// Returns the start of a line or value, for the log.
std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 80;
  if (text.size() <= longest) return std::string(text);
  std::size_t end = longest;
  // Do not split a UTF-8 character.
  while (end > longest - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

BadLine bad(const std::string& what, std::string_view seen) {
  return {what + ": " + excerpt(seen)};
}

/// Parses "10m" or a number of seconds.
std::optional<Duration> as_duration(std::string_view value) {
  if (const auto text = json_text::as_string(value)) return parse_duration(*text);
  if (!json_text::as_number(value)) return std::nullopt;
  return parse_duration(value);
}

std::string without(const Members& members, std::string_view one, std::string_view other) {
  std::string object = "{";
  for (const Member& member : members) {
    if (member.key == one || member.key == other) continue;
    if (object.size() > 1) object += ',';
    object += member.whole;
  }
  return object + '}';
}

void parse_duration_member(const Members& members, const char* key, std::optional<Duration>& into,
                           std::string& error) {
  const Member* member = json_text::find(members, key);
  if (member == nullptr) return;
  into = as_duration(member->value);
  if (!into) error = std::string(key) + " is not a duration: " + excerpt(member->value);
}

Message complete(const Members& members) {
  Complete message;
  message.result = without(members, "type", "id");
  if (const Member* error = json_text::find(members, "error")) {
    auto text = json_text::as_string(error->value);
    message.error = text ? std::move(*text) : std::string(error->value);
  }
  parse_duration_member(members, "cooldown", message.cooldown, message.mistake);
  parse_duration_member(members, "backoff", message.backoff, message.mistake);
  if (const Member* schedule = json_text::find(members, "schedule")) {
    message.schedule = json_text::as_string(schedule->value);
    if (message.schedule != "STOP" && message.schedule != "UNSET") {
      message.schedule.reset();
      message.mistake = "schedule is neither STOP nor UNSET: " + excerpt(schedule->value);
    }
  }
  return message;
}

Message progress(const Members& members, std::string_view line) {
  const auto number = [&members](const char* key) {
    const Member* member = json_text::find(members, key);
    return member == nullptr ? std::nullopt : json_text::as_number(member->value);
  };
  const auto numerator = number("numerator");
  const auto denominator = number("denominator");
  if (!numerator || !denominator)
    return bad("progress without a number as numerator and denominator", line);
  return Progress{*numerator, *denominator};
}

Message update(const Members& members, std::string_view line) {
  const Member* data = json_text::find(members, "data");
  if (data == nullptr) return bad("update without data", line);
  return Update{std::string(data->value)};
}

Message print(const Members& members, std::string_view line) {
  const Member* content = json_text::find(members, "content");
  auto text = content == nullptr ? std::nullopt : json_text::as_string(content->value);
  if (!text) return bad("print without a string as content", line);
  return Print{std::move(*text)};
}

Message parse(const Members& members, std::string_view line) {
  const Member* type = json_text::find(members, "type");
  if (type == nullptr) return bad("no type", line);
  const auto name = json_text::as_string(type->value);
  if (name == "complete") return complete(members);
  if (name == "progress") return progress(members, line);
  if (name == "update") return update(members, line);
  if (name == "print") return print(members, line);
  return bad("unknown type", line);
}

StreamMessage parse(std::string_view line) {
  auto members = json_text::plain_members(line);
  if (!members) {
    if (const auto error = json_text::error(line)) return {{}, bad(*error, line)};
    members = json_text::members(line);
  }
  if (!members) return {{}, bad("not a JSON object", line)};
  StreamMessage result{{}, parse(*members, line)};
  if (const Member* id = json_text::find(*members, "id"))
    result.id = json_text::as_string(id->value);
  return result;
}

}  // namespace

StreamMessage parse_stream_message(std::string_view line) noexcept {
  try {
    return parse(line);
  } catch (const std::exception&) {
    return {{}, BadLine{"not enough memory to parse the line"}};
  }
}

Message parse_message(std::string_view line) noexcept {
  return parse_stream_message(line).message;
}

}  // namespace w8y
