#include "ctl/python_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "core/escape.hpp"

namespace w8y::ctl {

namespace {

void append_unit(std::string& out, std::uint32_t unit) {
  std::array<char, 12> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", unit);
  out += text.data();
}

void append_code_point(std::string& out, std::uint32_t point) {
  if (point < 0x10000) return append_unit(out, point);
  append_unit(out, 0xd800 + ((point - 0x10000) >> 10));
  append_unit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
}

/// Returns the bytes of the UTF-8 character that starts here; 0: none does.
std::size_t character_length(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return bytes.size() >= length && is_utf8(bytes.substr(0, length)) ? length : 0;
}

std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  std::uint32_t point = first & (0xffU >> (character.size() + 1));
  for (const char next : character.substr(1))
    point = point << 6 | (static_cast<unsigned char>(next) & 0x3fU);
  return point;
}

void append_ascii(std::string& out, char character) {
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\b':
      out += "\\b";
      return;
    default:
      break;
  }
  if (character >= ' ' && character <= '~') {
    out += character;
  } else {
    append_unit(out, static_cast<unsigned char>(character));
  }
}

}  // namespace

std::string python_string(std::string_view bytes) {
  std::string out = "\"";
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    if (length == 0) {
      append_unit(out, 0xdc00U + static_cast<unsigned char>(bytes[0]));
    } else if (length == 1) {
      append_ascii(out, bytes[0]);
    } else {
      append_code_point(out, code_point(bytes.substr(0, length)));
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

std::string python_float(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  std::array<char, 400> text{};
  const double size = std::fabs(number);
  const auto format = size != 0 && (size < 1e-4 || size >= 1e16) ? std::chars_format::scientific
                                                                 : std::chars_format::fixed;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, format).ptr;
  std::string shortest(text.data(), end);
  if (format == std::chars_format::fixed && shortest.find('.') == std::string::npos)
    shortest += ".0";
  return shortest;
}

}  // namespace w8y::ctl
