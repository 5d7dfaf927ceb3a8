#include "core/pattern.hpp"

#include <cstddef>

namespace w8y::core {

namespace {

/// Returns the length of the UTF-8 character at the start of `name`; 1 if it is invalid.
std::size_t character_at(std::string_view name) {
  std::size_t length = 1;
  if (static_cast<unsigned char>(name.front()) < 0xc0) return length;
  while (length < name.size() && length < 4 &&
         (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80)
    ++length;
  return length;
}

}  // namespace

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

bool fits(std::string_view pattern, std::string_view name) {
  // The last '*' and the part of the name that it matches: only the last one needs to match more.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  std::size_t at = 0;
  std::size_t in_name = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = in_name;
    } else if (at < pattern.size() && pattern[at] == '?') {
      ++at;
      in_name += character_at(name.substr(in_name));
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace w8y::core
