#include "simulation/value.hpp"

#include <cstdlib>

namespace w8y::sim {

namespace {

std::string line(char mark, const std::string& text) {
  return mark + text + "\r\n";
}

/// "*3\r\n" or "$5\r\n" at a place; moves it behind.
std::optional<std::size_t> take_count(const std::string& bytes, std::size_t& at) {
  const auto end = bytes.find("\r\n", at);
  if (end == std::string::npos) return std::nullopt;
  const auto count = static_cast<std::size_t>(std::strtoull(bytes.c_str() + at + 1, nullptr, 10));
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
      out += line(':', std::to_string(value.number));
      break;
    case Value::Kind::bulk:
      out += line('$', std::to_string(value.text.size())) + value.text + "\r\n";
      break;
    case Value::Kind::status:
      out += line('+', value.text);
      break;
    case Value::Kind::error:
      out += line('-', value.text);
      break;
    case Value::Kind::array:
      out += line('*', std::to_string(value.elements.size()));
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

std::optional<Words> take_command(std::string& bytes) {
  std::size_t at = 0;
  if (bytes.empty()) return std::nullopt;
  const auto count = take_count(bytes, at);
  if (!count) return std::nullopt;
  Words words;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto size = at < bytes.size() ? take_count(bytes, at) : std::nullopt;
    if (!size || at + *size + 2 > bytes.size()) return std::nullopt;
    words.push_back(bytes.substr(at, *size));
    at += *size + 2;
  }
  bytes.erase(0, at);
  return words;
}

}  // namespace w8y::sim
