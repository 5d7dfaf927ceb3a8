// Characters of ASCII, in any locale.
#pragma once

#include <string>
#include <string_view>

namespace w8y::core {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c);
}
constexpr bool is_alnum(char c) {
  return is_letter(c) || is_digit(c);
}

/// Returns the text in lower case.
inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace w8y::core
