#include "http/target.hpp"

#include <algorithm>
#include <utility>

namespace w8y::http {

namespace {

int hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return bytes;
}

/// Returns the text before `separator` and removes it together with the separator; all of the text
/// if there is none.
std::string_view split_off(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

std::optional<HttpTarget> parse_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return std::nullopt;
  HttpTarget result;
  std::string_view path = split_off(target, '?');
  do {
    path.remove_prefix(1);  // the '/'
    auto segment = percent_decode(path.substr(0, path.find('/')));
    if (!segment) return std::nullopt;
    result.path.push_back(std::move(*segment));
    path.remove_prefix(std::min(path.find('/'), path.size()));
  } while (!path.empty());
  while (!target.empty()) {
    std::string_view pair = split_off(target, '&');
    auto name = percent_decode(split_off(pair, '='));
    auto value = percent_decode(pair);
    if (!name || !value) return std::nullopt;
    result.query.emplace(std::move(*name), std::move(*value));
  }
  return result;
}

bool has_too_many_parameters(std::string_view target) {
  split_off(target, '?');
  const auto separators = std::count(target.begin(), target.end(), '&');
  return static_cast<std::size_t>(separators) >= max_parameters;
}

std::string percent_encode(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string text;
  for (const char character : bytes) {
    if (plain.find(character) != std::string_view::npos) {
      text += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    text += '%';
    text += digits[byte >> 4];
    text += digits[byte & 15U];
  }
  return text;
}

std::string make_path(const std::vector<std::string>& segments) {
  std::string path;
  for (const std::string& segment : segments) path += '/' + percent_encode(segment);
  return path.empty() ? "/" : path;
}

}  // namespace w8y::http
