#include "core/error_pattern.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.hpp"

namespace w8y::core {

namespace {

constexpr std::size_t uuid_length = 36;
constexpr std::size_t run_id_length = 26;
constexpr std::size_t min_hex = 8;
constexpr std::size_t max_code = 3;

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, is_digit);
}

/// Names after which a short number is a code, in lower case.
bool names_code(std::string_view name) {
  static constexpr std::array<std::string_view, 10> names{
      "http", "status", "code", "exit", "signal", "errno", "error", "smtp", "ftp", "returned"};
  return std::ranges::find(names, lower(name)) != names.end();
}

/// Reads a message from left to right, and writes its pattern.
class Pattern {
 public:
  explicit Pattern(std::string_view message) : left_(message) {}

  std::string read() {
    while (!left_.empty() && text_.size() < max_error_pattern) {
      if (quoted() || path() || word()) continue;
      put(1);
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] char before() const { return text_.empty() ? ' ' : text_.back(); }
  void put(std::size_t length) {
    text_ += left_.substr(0, length);
    left_.remove_prefix(length);
  }
  void replace(std::size_t length, std::string_view by) {
    text_ += by;
    left_.remove_prefix(length);
  }

  bool quoted() {
    const char quote = left_.front();
    if (quote != '"' && quote != '\'' && quote != '`') return false;
    // An apostrophe follows a letter.
    if (quote == '\'' && is_alnum(before())) return false;
    std::size_t end = left_.find(quote, 1);
    while (quote == '\'' && end != std::string_view::npos && end + 1 < left_.size() &&
           is_alnum(left_[end + 1]))
      end = left_.find(quote, end + 1);
    if (end == std::string_view::npos) return false;
    replace(end + 1, "\"…\"");
    return true;
  }

  /// Reads a path or the path of a URL: its parts up to a space or a punctuation mark.
  bool path() {
    if (left_.front() != '/' || left_.size() < 2 || !(is_alnum(left_[1]) || left_[1] == '.'))
      return false;
    const std::size_t length = std::min(left_.find_first_of(" \t\"'`<>()[]{},;:"), left_.size());
    std::string_view all = left_.substr(0, length);
    while (all.size() > 1 && all.back() == '.') all.remove_suffix(1);
    const std::size_t whole = all.size();
    const std::size_t query = all.find('?');
    const bool has_query = query != std::string_view::npos;
    all = all.substr(0, query);
    while (!all.empty()) {
      const std::string_view part = all.substr(1, std::min(all.find('/', 1), all.size()) - 1);
      text_ += '/';
      text_ += has_digit(part) ? std::string_view("…") : part;
      all.remove_prefix(1 + part.size());
    }
    if (has_query) text_ += "?…";
    left_.remove_prefix(whole);
    return true;
  }

  /// Reads letters and digits.
  bool word() {
    std::size_t length = 0;
    while (length < left_.size() && is_alnum(left_[length])) ++length;
    if (length == 0) return false;
    const std::string_view word = left_.substr(0, length);
    if (is_uuid()) {
      replace(uuid_length, "<uuid>");
    } else if (is_run_id(word)) {
      replace(length, "<run>");
    } else if (is_hexadecimal(word)) {
      replace(length, "<hex>");
    } else if (!has_digit(word)) {
      last_word_ = word;
      put(length);
    } else if (is_digit(word.front())) {
      number();
    } else {
      put(word.find_first_of("0123456789"));
      number();
    }
    return true;
  }

  [[nodiscard]] bool is_uuid() const {
    if (left_.size() < uuid_length || (left_.size() > uuid_length && is_alnum(left_[uuid_length])))
      return false;
    for (std::size_t i = 0; i < uuid_length; ++i) {
      const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
      if (hyphen ? left_[i] != '-' : !is_hex(left_[i])) return false;
    }
    return true;
  }
  static bool is_run_id(std::string_view word) {
    return word.size() == run_id_length && word.front() <= '7' && is_digit(word.front()) &&
           std::ranges::all_of(word, [](char c) { return is_digit(c) || is_upper(c); });
  }
  static bool is_hexadecimal(std::string_view word) {
    const bool prefixed = word.starts_with("0x") || word.starts_with("0X");
    if (prefixed) word.remove_prefix(2);
    if (word.empty() || !std::ranges::all_of(word, is_hex)) return false;
    return prefixed ||
           (word.size() >= min_hex && has_digit(word) && std::ranges::any_of(word, is_letter));
  }

  /// Reads a number, and the numbers that are joined to it.
  void number() {
    std::size_t length = 0;
    for (std::size_t at = 0; at < left_.size(); ++at) {
      const bool joins = at + 1 < left_.size() && at > 0 && is_digit(left_[at + 1]) &&
                         std::string_view(".:,-TZ_").find(left_[at]) != std::string_view::npos;
      if (is_digit(left_[at])) {
        length = at + 1;
      } else if (!joins) {
        break;
      }
    }
    const bool is_code = length <= max_code && names_code(last_word_) && before() != '-' &&
                         !is_letter(before()) &&
                         std::ranges::all_of(left_.substr(0, length), is_digit);
    last_word_ = {};
    if (is_code) return put(length);
    replace(length, "N");
  }

  std::string_view left_;
  std::string text_;
  std::string_view last_word_;
};

}  // namespace

std::string error_pattern(std::string_view message) {
  message = message.substr(0, message.find_first_of("\r\n"));
  // The message may have any length.
  std::string text = Pattern(message.substr(0, 4 * max_error_pattern)).read();
  std::size_t end = std::min(text.size(), max_error_pattern);
  // Ends after a whole character.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  text.resize(end);
  return text;
}

}  // namespace w8y::core
