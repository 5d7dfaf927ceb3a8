#include "core/escape.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "core/base64.hpp"

namespace w8y {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< bytes; 0 = not UTF-8
};

/// Decodes the first character of `bytes`, which is not empty, by table 3-7 of the Unicode
/// standard.
Character decode(std::string_view bytes) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || bytes.size() < length) return {};
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80) return {};
    code = (code << 6) | (at(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return {};
  return {code, length};
}

bool is_ascii_control(std::uint32_t code) {
  return code < 0x20 || code == 0x7F;
}

/// Matches C1 controls, line and paragraph separators and bidirectional marks.
bool is_hidden(std::uint32_t code) {
  return (code >= 0x80 && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string hex(const char* format, unsigned value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Returns the escape of a character that has one of its own, among `characters`, which the letters
/// follow; empty: it has none.
std::string short_escape(std::uint32_t code, std::string_view characters,
                         std::string_view letters) {
  const auto found =
      code < 0x80 ? characters.find(static_cast<char>(code)) : std::string_view::npos;
  return found == std::string_view::npos ? std::string() : std::string("\\") + letters[found];
}

std::string escape_for_people(std::string_view bytes, const Character& character) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (character.length == 0) return hex("\\x%02x", first);
  std::string text = short_escape(character.code, "\\\n\r\t\x1B", "\\nrte");
  if (!text.empty()) return text;
  if (is_ascii_control(character.code)) return hex("\\x%02x", first);
  if (is_hidden(character.code)) return hex("\\u%04x", character.code);
  return std::string(bytes.substr(0, character.length));
}

std::string escape_for_json(std::string_view bytes, const Character& character) {
  if (character.length == 0) return hex("\\\\x%02x", static_cast<unsigned char>(bytes[0]));
  std::string text = short_escape(character.code, "\"\\\n\r\t", "\"\\nrt");
  if (!text.empty()) return text;
  if (is_ascii_control(character.code) || is_hidden(character.code))
    return hex("\\u%04x", character.code);
  return std::string(bytes.substr(0, character.length));
}

using EscapeOne = std::string (*)(std::string_view, const Character&);

/// Returns the longest prefix that no kind of escaping changes. Most logged text is unchanged, so
/// it is copied without decoding its characters.
std::string_view plain_beginning(std::string_view bytes) {
  const char* const end = bytes.data() + bytes.size();
  const char* at = bytes.data();
  while (at != end && *at >= 0x20 && *at < 0x7F && *at != '"' && *at != '\\') ++at;
  return {bytes.data(), static_cast<std::size_t>(at - bytes.data())};
}

std::string escape_all(std::string_view bytes, std::size_t max, EscapeOne escape_one) {
  std::string text;
  text.reserve(std::min(bytes.size(), max) + 2);
  while (!bytes.empty()) {
    const std::string_view plain = plain_beginning(bytes.substr(0, max - text.size()));
    text += plain;
    bytes.remove_prefix(plain.size());
    if (bytes.empty()) break;
    const Character character = decode(bytes);
    const std::string piece = escape_one(bytes, character);
    if (text.size() + piece.size() > max) return text + "…";
    text += piece;
    bytes.remove_prefix(character.length == 0 ? 1 : character.length);
  }
  return text;
}

std::string escape_quoted(std::string_view bytes, const Character& character) {
  return character.code == '"' ? "\\\"" : escape_for_people(bytes, character);
}

std::string escape_but_backslash(std::string_view bytes, const Character& character) {
  return character.code == '\\' ? "\\" : escape_for_people(bytes, character);
}

}  // namespace

std::string escape(std::string_view bytes, std::size_t max) {
  return escape_all(bytes, max, escape_for_people);
}

std::string escape_line(std::string_view line) {
  return escape_all(line, std::string_view::npos, escape_but_backslash);
}

std::string escape_text(std::string_view bytes, std::size_t max) {
  const std::string text = escape_all(bytes, max, escape_quoted);
  const bool plain = !text.empty() && text.find_first_of(" \"=\\") == std::string::npos;
  return plain ? text : '"' + text + '"';
}

std::string escape_json(std::string_view bytes, std::size_t max) {
  return '"' + escape_all(bytes, max, escape_for_json) + '"';
}

bool is_utf8(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const std::size_t length = decode(bytes).length;
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string shell_argument(std::string_view bytes) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-";
  if (!bytes.empty() && bytes.find_first_not_of(plain) == std::string_view::npos)
    return std::string(bytes);
  const bool printable = escape_line(bytes) == bytes;
  std::string text = printable ? "'" : "$'";
  for (const char byte : bytes) {
    if (printable) {
      text += byte == '\'' ? "'\\''" : std::string(1, byte);
    } else if (byte == '\\') {
      text += "\\\\";
    } else if (byte >= ' ' && byte <= '~' && byte != '\'') {
      text += byte;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto code = static_cast<unsigned char>(byte);
      text += {'\\', 'x', digits[code / 16], digits[code % 16]};
    }
  }
  return text + '\'';
}

std::string shell_item(std::string_view item) {
  if (item.size() > max_shown) return "ITEM";
  if (item.find('\0') != std::string_view::npos) return "--base64 " + base64_encode(item);
  return (item.starts_with('-') ? "-- " : "") + shell_argument(item);
}

}  // namespace w8y
