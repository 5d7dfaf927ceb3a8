// JSON for executors: a strict reader for the lines of `stream`, and a writer whose text is always
// one line of valid UTF-8. Part of w8y-executor/executor.hpp; C++17.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <locale>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace w8y::kit {

namespace json {

/// Length in bytes of the UTF-8 sequence at `at`; 0 if there is none.
inline std::size_t sequence(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2   ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong sequences, halves of surrogate pairs, and code points beyond U+10FFFF.
  const unsigned second = byte(at + 1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

/// Returns the text as a JSON string, with quotes. Bytes that are not valid UTF-8 become U+FFFD.
inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence(text, at);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[at];
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      out += escape;
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out.append(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  return out + '"';
}

/// Value of a member: a string without its escapes, or else the JSON text.
struct Value {
  bool is_string = false;
  std::string text;
};
using Members = std::map<std::string, Value, std::less<>>;

/// Reader of exactly the JSON of RFC 8259.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// Members of the object that is the whole text. If a name occurs twice, the last one counts.
  std::optional<Members> object() {
    Members members;
    if (!is_utf8(text_)) return std::nullopt;
    if (!object(&members) || !at_end()) return std::nullopt;
    return members;
  }
  /// Whether the text is one JSON value.
  bool valid() { return is_utf8(text_) && value(nullptr) && at_end(); }

 private:
  static constexpr int deepest = 500;

  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool at_end() {
    blanks();
    return at_ == text_.size();
  }
  bool next(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  bool value(Value* into) {
    blanks();
    if (at_ == text_.size()) return false;
    const std::size_t start = at_;
    std::string ignored;
    if (into != nullptr) into->is_string = text_[at_] == '"';
    switch (text_[at_]) {
      case '"':
        return string(into == nullptr ? ignored : into->text);
      case '{':
        if (!object(nullptr)) return false;
        break;
      case '[':
        if (!array()) return false;
        break;
      default:
        if (!word("true") && !word("false") && !word("null") && !number()) return false;
    }
    if (into != nullptr) into->text = text_.substr(start, at_ - start);
    return true;
  }

  bool object(Members* into) {
    blanks();
    if (!next('{') || ++depth_ > deepest) return false;
    blanks();
    if (next('}')) return --depth_, true;
    do {
      std::string name;
      Value found;
      blanks();
      if (!string(name)) return false;
      blanks();
      if (!next(':') || !value(into == nullptr ? nullptr : &found)) return false;
      if (into != nullptr) (*into)[std::move(name)] = std::move(found);
      blanks();
    } while (next(','));
    --depth_;
    return next('}');
  }

  bool array() {
    if (!next('[') || ++depth_ > deepest) return false;
    blanks();
    if (next(']')) return --depth_, true;
    do {
      if (!value(nullptr)) return false;
      blanks();
    } while (next(','));
    --depth_;
    return next(']');
  }

  bool digits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > start;
  }
  bool number() {
    next('-');
    if (!next('0') && !digits()) return false;
    if (next('.') && !digits()) return false;
    if (!next('e') && !next('E')) return true;
    if (!next('+')) next('-');
    return digits();
  }

  bool string(std::string& out) {
    if (!next('"')) return false;
    for (;;) {
      const std::size_t start = at_;
      while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20 &&
             text_[at_] != '"' && text_[at_] != '\\')
        ++at_;
      out.append(text_.substr(start, at_ - start));
      if (next('"')) return true;
      if (!next('\\') || !escape(out)) return false;
    }
  }

  bool escape(std::string& out) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    if (const auto which = names.find(text_[at_]); which != names.npos) {
      ++at_;
      out += meanings[which];
      return true;
    }
    std::uint32_t code = 0;
    std::uint32_t low = 0;
    if (!unit(code)) return false;
    if (code >= 0xd800 && code < 0xe000) {
      // The code is a high surrogate, and a low surrogate must follow.
      if (code >= 0xdc00 || !next('\\') || !unit(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
    }
    encode(out, code);
    return true;
  }

  bool unit(std::uint32_t& code) {
    if (!next('u') || text_.size() - at_ < 4) return false;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = text_[at_];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  static void encode(std::string& out, std::uint32_t code) {
    const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
      add(0xc0U | code >> 6U);
    } else {
      if (code < 0x10000) {
        add(0xe0U | code >> 12U);
      } else {
        add(0xf0U | code >> 18U);
        add(0x80U | (code >> 12U & 0x3fU));
      }
      add(0x80U | (code >> 6U & 0x3fU));
    }
    add(0x80U | (code & 0x3fU));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Decodes base64 of RFC 4648 with padding and without other characters.
inline std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const std::size_t six = alphabet.find(c);
    if (six == alphabet.npos) return std::nullopt;
    bits = (bits << 6U | static_cast<std::uint32_t>(six)) & 0xffffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xffU);
  }
  return bytes;
}

}  // namespace json

/// JSON text to use as a value. Throws std::invalid_argument if it is not JSON.
class Raw {
 public:
  explicit Raw(std::string text) : text_(std::move(text)) {
    if (!json::Reader(text_).valid()) throw std::invalid_argument("not JSON");
    // Line ends occur only between values in valid JSON. A message is one line.
    for (char& c : text_) {
      if (c == '\n' || c == '\r') c = ' ';
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// JSON object, built member by member. Values are strings, numbers, bool, nullptr, Object, Raw,
/// and vectors of these.
class Object {
 public:
  template <typename T>
  Object& add(std::string_view name, const T& value) {
    if (!members_.empty()) members_ += ',';
    members_ += json::quoted(name) + ':' + text_of(value);
    return *this;
  }
  [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }

  template <typename T>
  static std::string text_of(const T& value) {
    if constexpr (std::is_same_v<T, std::nullptr_t>) {
      return "null";
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return of_number(static_cast<double>(value));
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return json::quoted(value);
    } else if constexpr (std::is_same_v<T, Object> || std::is_same_v<T, Raw>) {
      return value.text();
    } else {
      return of_all(value);
    }
  }

 private:
  friend class Item;

  static std::string of_number(double value) {
    if (!std::isfinite(value)) return "null";
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(17);
    out << value;
    return out.str();
  }
  template <typename T>
  static std::string of_all(const std::vector<T>& values) {
    std::string out = "[";
    for (const T& value : values) {
      if (out.size() > 1) out += ',';
      out += text_of(value);
    }
    return out + ']';
  }

  std::string members_;
};

}  // namespace w8y::kit
