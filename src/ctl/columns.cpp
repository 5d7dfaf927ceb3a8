#include "ctl/columns.hpp"

#include <wchar.h>

#include <algorithm>

namespace w8y::ctl {

namespace {

constexpr const char* cut_mark = "…";

struct Character {
  std::size_t bytes = 1;
  std::size_t width = 1;
};

Character character_at(const std::string& text, std::size_t at) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t bytes = mbrtowc(&wide, text.data() + at, text.size() - at, &state);
  if (bytes == 0 || bytes > text.size()) return {};  // not text: one column per byte
  const int columns = wcwidth(wide);
  return {bytes, columns > 0 ? static_cast<std::size_t>(columns) : 0};
}

/// Returns the bytes of `text` from `at` that take at most `width` columns.
std::size_t fitting(const std::string& text, std::size_t at, std::size_t width) {
  const std::size_t first = at;
  for (std::size_t used = 0; at < text.size();) {
    const Character next = character_at(text, at);
    used += next.width;
    if (used > width) break;
    at += next.bytes;
  }
  return at - first;
}

}  // namespace

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = character_at(text, at);
    width += next.width;
    at += next.bytes;
  }
  return width;
}

std::string cut_to(const std::string& text, std::size_t width) {
  if (width == 0) return {};
  if (text.size() <= width || width_of(text) <= width) return text;
  return text.substr(0, fitting(text, 0, width - 1)) + cut_mark;
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  do {
    std::size_t bytes = fitting(text, at, std::max<std::size_t>(width, 1));
    if (bytes == 0) bytes = std::min<std::size_t>(text.size() - at, 1);  // wider than a line
    if (at + bytes < text.size()) {
      const std::size_t blank = text.rfind(' ', at + bytes);
      if (blank != std::string::npos && blank > at) bytes = blank - at;
    }
    lines.push_back(text.substr(at, bytes));
    at = std::min(text.find_first_not_of(' ', at + bytes), text.size());
  } while (at < text.size());
  return lines;
}

std::vector<std::size_t> fit(const std::vector<Column>& columns, std::size_t available) {
  std::vector<std::size_t> widths;
  std::size_t total = columns.empty() ? 0 : gap * (columns.size() - 1);
  for (const Column& column : columns) {
    widths.push_back(column.wanted);
    total += column.wanted;
  }
  // Passes: soft columns shrink to `least`, then the others, then all columns to one.
  for (const int pass : {1, 2, 3}) {
    const auto may_give = [&](std::size_t i) {
      if (pass == 3) return widths[i] > 1;
      return columns[i].soft == (pass == 1) && widths[i] > columns[i].least;
    };
    while (total > available) {
      std::size_t widest = columns.size();
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (may_give(i) && (widest == columns.size() || widths[i] > widths[widest])) widest = i;
      if (widest == columns.size()) break;
      --widths[widest];
      --total;
    }
  }
  return widths;
}

}  // namespace w8y::ctl
