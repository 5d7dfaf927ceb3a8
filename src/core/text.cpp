#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/ascii.hpp"
#include "core/escape.hpp"

namespace w8y::core {

namespace {

constexpr std::size_t max_shown = 60;
/// Maximum number of names in did_you_mean().
constexpr std::size_t max_listed = 20;
/// No key is nearly as long, and the cost grows with the product of both lengths.
constexpr std::size_t max_compared = 64;

/// "exit_codes" is similar to "success_exit_codes" rather than to "executor", regardless of the
/// missing part.
constexpr std::size_t changes_if_held = 2;

bool is_bare(char c) {
  return is_alnum(c) || c == '_' || c == '-';
}

bool holds_other(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return b.size() >= 4 && a.find(b) != std::string_view::npos;
}

std::size_t distance(std::string_view a, std::string_view b) {
  // Three rows of the matrix of the optimal string alignment distance: two before, one before, the
  // current one.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& [two_back, back, row] = rows;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = back[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, back[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  return rows[1][b.size()];
}

}  // namespace

std::string quote(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string quote_start(std::string_view text) {
  if (text.size() <= max_shown) return quote(text);
  std::size_t end = max_shown;
  // Do not split a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return quote(text.substr(0, end)) + "…";
}

std::string quote_key(std::string_view key) {
  if (!key.empty() && std::all_of(key.begin(), key.end(), is_bare)) {
    return key.size() <= max_shown ? std::string(key) : quote_start(key);
  }
  return quote_start(key);
}

std::string quote_all(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += quote(text);
  }
  return out += ']';
}

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names) {
  name = name.substr(0, max_compared);
  std::string_view best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : names) {
    std::size_t changes = distance(name, candidate);
    if (holds_other(name, candidate)) changes = std::min(changes, changes_if_held);
    if (changes >= fewest) continue;
    fewest = changes;
    best = candidate;
  }
  // Above this limit, more of the name is changed than kept: the suggestion would be wrong.
  const std::size_t most = std::max<std::size_t>(1, std::max(name.size(), best.size()) / 3);
  return fewest <= most ? best : std::string_view();
}

std::string near_hint(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string_view meant = nearest(name, names);
  return meant.empty() ? std::string() : "; did you mean " + escape_text(meant) + "?";
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string_view meant = nearest(name, names);
  if (!meant.empty()) return "did you mean " + quote(meant) + "?";
  if (names.size() > max_listed) return "see w8y.toml(5)";
  std::string text;
  for (const std::string_view each : names)
    text.append(text.empty() ? "must be one of " : ", ").append(each);
  return text;
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_bare(c) && c != '-'; });
}

}  // namespace w8y::core
