#include "simulation/value.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace w8y::sim {

namespace {

void append_line(std::string& out, char mark, std::string_view text) {
  out += mark;
  out += text;
  out += "\r\n";
}

void append_line(std::string& out, char mark, std::int64_t number) {
  char text[24];
  append_line(out, mark, {text, std::to_chars(text, std::end(text), number).ptr});
}

/// Parses "*3\r\n" or "$5\r\n" at `at` and moves `at` behind it.
std::optional<std::size_t> parse_count(std::string_view bytes, std::size_t& at) {
  const auto end = bytes.find("\r\n", at);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t count = 0;
  std::from_chars(bytes.data() + at + 1, bytes.data() + end, count);
  at = end + 2;
  return count;
}

}  // namespace

void append(std::string& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::nil:
      out += "$-1\r\n";
      break;
    case Value::Kind::integer:
      append_line(out, ':', value.number);
      break;
    case Value::Kind::bulk:
      append_line(out, '$', std::ssize(value.text));
      out += value.text;
      out += "\r\n";
      break;
    case Value::Kind::status:
      append_line(out, '+', value.text);
      break;
    case Value::Kind::error:
      append_line(out, '-', value.text);
      break;
    case Value::Kind::array:
      append_line(out, '*', std::ssize(value.elements));
      for (const Value& element : value.elements) append(out, element);
  }
}

std::string to_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::nil:
      return "nil";
    case Value::Kind::integer:
      return std::to_string(value.number);
    case Value::Kind::error:
      return "error " + value.text;
    case Value::Kind::bulk:
    case Value::Kind::status:
      return '"' + value.text.substr(0, 80) + '"';
    case Value::Kind::array:
      break;
  }
  std::string text = "[";
  for (const Value& element : value.elements)
    text += (text.size() > 1 ? ", " : "") + to_text(element);
  return text + "]";
}

std::optional<Words> parse_command(std::string_view bytes, std::size_t& at) {
  std::size_t end = at;
  if (end >= bytes.size()) return std::nullopt;
  const auto count = parse_count(bytes, end);
  if (!count) return std::nullopt;
  Words words;
  words.reserve(std::min(*count, bytes.size() - end));
  for (std::size_t i = 0; i < *count; ++i) {
    const auto size = end < bytes.size() ? parse_count(bytes, end) : std::nullopt;
    if (!size || end + *size + 2 > bytes.size()) return std::nullopt;
    words.emplace_back(bytes.substr(end, *size));
    end += *size + 2;
  }
  at = end;
  return words;
}

std::optional<Words> parse_command(std::string& bytes) {
  std::size_t end = 0;
  auto words = parse_command(bytes, end);
  bytes.erase(0, end);
  return words;
}

}  // namespace w8y::sim
