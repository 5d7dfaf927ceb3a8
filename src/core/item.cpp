#include "core/item.hpp"

namespace w8y {

namespace {

/// Returns whether the byte is part of a UTF-8 character but not its first byte.
bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

constexpr std::size_t max_character = 4;

}  // namespace

std::string too_long_text() {
  static_assert(max_item % (std::size_t{1} << 20) == 0);
  return "longer than " + std::to_string(max_item >> 20) + " MiB, the maximum for an item";
}

std::string_view shown_part(std::string_view item) noexcept {
  if (item.size() <= item_shown) return item;
  std::size_t end = item_shown;
  while (end + max_character > item_shown + 1 && continues(item[end])) --end;
  return item.substr(0, end);
}

}  // namespace w8y
