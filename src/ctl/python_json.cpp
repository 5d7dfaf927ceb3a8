#include "ctl/python_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/escape.hpp"
#include "core/json_object.hpp"

namespace w8y::ctl {

namespace {

/// Returns the bytes of the UTF-8 character that starts here; 0: none does.
std::size_t character_length(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return bytes.size() >= length && is_utf8(bytes.substr(0, length)) ? length : 0;
}

}  // namespace

std::string python_string(std::string_view bytes) {
  std::string out = "\"";
  while (!bytes.empty()) {
    std::size_t valid = 0;
    while (valid < bytes.size()) {
      const std::size_t length = character_length(bytes.substr(valid));
      if (length == 0) break;
      valid += length;
    }
    const std::string text = core::json_string(bytes.substr(0, valid));
    out.append(text, 1, text.size() - 2);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    std::array<char, 8> unit{};
    std::snprintf(unit.data(), unit.size(), "\\udc%02x", static_cast<unsigned char>(bytes[0]));
    out += unit.data();
    bytes.remove_prefix(1);
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
