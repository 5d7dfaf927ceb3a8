#include "core/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>

namespace w8y::json_text {

namespace {

/// Keeps only the position at which the text stops being valid JSON.
class Checker : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return deeper(); }
  bool key(std::string&) override { return true; }
  bool end_object() override { return higher(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return higher(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    byte = position;
    return false;
  }

  std::size_t byte = 0;
  bool too_deep = false;

 private:
  bool deeper() {
    too_deep = ++depth_ > max_depth;
    return !too_deep;
  }
  bool higher() {
    --depth_;
    return true;
  }
  std::size_t depth_ = 0;
};

/// Number of members of most lines.
constexpr std::size_t usual_members = 4;

/// Scanner of valid JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void step() { ++at_; }

  std::string_view parse_string() {
    const std::size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view parse_value() {
    const std::size_t start = at_;
    std::size_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        parse_string();
        --at_;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
      } else if (c == ',' && depth == 0) {
        break;
      }
    }
    std::size_t end = at_;
    while (end > start && is_space(text_[end - 1])) --end;
    return text_.substr(start, end - start);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Returns the position of the first character if no JSON text starts with it; npos if the text may
/// be JSON. The library is slow for invalid lines, because it builds an exception text for each.
/// Most invalid lines are invalid from the start.
std::size_t hopeless_at(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return first;
  const bool may_be = std::string_view("{[\"-0123456789tfn\xef").find(text[first]) !=
                      std::string_view::npos;  // 0xEF: start of a byte order mark
  return may_be ? std::string_view::npos : first;
}

/// Parser of an object of the simplest kind: no nested values, no escapes, no fractions, ASCII
/// only.
class PlainObject {
 public:
  /// `into`: receives the members; nullptr if they are not needed.
  explicit PlainObject(std::string_view text, std::vector<Member>* into = nullptr)
      : text_(text), into_(into) {}

  /// Returns false if the text is not such an object. It may still be valid JSON.
  bool whole() {
    space();
    if (!parse_member('{')) return false;
    space();
    if (!parse_member('}') && !members()) return false;
    space();
    return text_.empty();
  }

 private:
  void space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t' || text_[0] == '\r'))
      text_.remove_prefix(1);
  }
  bool parse_member(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool parse_member(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool members() {
    do {
      space();
      const char* const begin = text_.data();
      if (!string()) return false;
      const auto key = static_cast<std::size_t>(text_.data() - begin);
      space();
      if (!parse_member(':')) return false;
      space();
      const char* const in_value = text_.data();
      if (!value()) return false;
      const char* const end = text_.data();
      if (into_ != nullptr)
        into_->push_back({std::string(begin + 1, key - 2), {begin, end}, {in_value, end}});
      space();
    } while (parse_member(','));
    return parse_member('}');
  }
  bool value() {
    if (text_.empty()) return false;
    if (text_[0] == '"') return string();
    return number() || parse_member("true") || parse_member("false") || parse_member("null");
  }
  bool string() {
    if (!parse_member('"')) return false;
    std::size_t size = 0;
    while (size < text_.size() && text_[size] != '"') {
      if (text_[size] < ' ' || text_[size] > '~' || text_[size] == '\\') return false;
      ++size;
    }
    if (size == text_.size()) return false;
    text_.remove_prefix(size + 1);
    return true;
  }
  /// Reads an integer. The caller checks the next character, because fractions are not supported. A
  /// number with too many digits is left to the library.
  bool number() {
    const std::size_t sign = text_[0] == '-' ? 1 : 0;
    std::size_t size = sign;
    while (size < text_.size() && text_[size] >= '0' && text_[size] <= '9') ++size;
    const std::size_t digits = size - sign;
    if (digits == 0 || digits > max_digits || (text_[sign] == '0' && digits > 1)) return false;
    text_.remove_prefix(size);
    return true;
  }

  static constexpr std::size_t max_digits = 18;

  std::string_view text_;
  std::vector<Member>* const into_;
};

nlohmann::json parse(std::string_view value) {
  return nlohmann::json::parse(value.begin(), value.end(), nullptr, false);
}

}  // namespace

std::optional<std::string> error(std::string_view text) {
  // Most lines are of this kind, and the library is ten times slower for them.
  if (PlainObject(text).whole()) return std::nullopt;
  if (const auto at = hopeless_at(text); at != std::string_view::npos)
    return "bad JSON at byte " + std::to_string(at + 1);
  Checker checker;
  try {
    if (nlohmann::json::sax_parse(text.begin(), text.end(), &checker)) return std::nullopt;
  } catch (const std::exception& problem) {
    return problem.what();
  }
  if (checker.too_deep) return "JSON nested deeper than " + std::to_string(max_depth);
  return "bad JSON at byte " + std::to_string(checker.byte);
}

Shape shape(std::string_view text) {
  Shape found{0, 1, 1};
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++found.values;
      found.depth = std::max(found.depth, ++depth);
    } else if (c == ']' || c == '}') {
      if (depth > 0) --depth;
    } else if (c == ',') {
      ++found.values;
      if (depth == 1) ++found.members;
    }
  }
  return found;
}

std::optional<std::vector<Member>> members(std::string_view text) {
  Scanner scanner(text);
  scanner.skip_space();
  if (scanner.peek() != '{') return std::nullopt;
  scanner.step();
  std::vector<Member> result;
  result.reserve(usual_members);
  for (;;) {
    scanner.skip_space();
    if (scanner.peek() != '"') break;
    Member member;
    const std::size_t start = scanner.at();
    const std::string_view key = scanner.parse_string();
    member.key = key.find('\\') == std::string_view::npos
                     ? std::string(key.substr(1, key.size() - 2))
                     : as_string(key).value_or("");
    scanner.skip_space();
    scanner.step();  // the colon
    scanner.skip_space();
    member.value = scanner.parse_value();
    const auto end =
        static_cast<std::size_t>(member.value.data() - text.data()) + member.value.size();
    member.whole = text.substr(start, end - start);
    result.push_back(std::move(member));
    if (scanner.peek() != ',') break;
    scanner.step();
  }
  return result;
}

std::optional<std::vector<Member>> plain_members(std::string_view text) {
  std::vector<Member> result;
  result.reserve(usual_members);
  if (!PlainObject(text, &result).whole()) return std::nullopt;
  return result;
}

const Member* find(const std::vector<Member>& members, std::string_view key) {
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [key](const Member& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &*found;
}

std::optional<std::string> as_string(std::string_view value) {
  if (value.empty() || value.front() != '"') return std::nullopt;
  if (value.find('\\') == std::string_view::npos)
    return std::string(value.substr(1, value.size() - 2));
  return parse(value).get<std::string>();
}

std::optional<double> as_number(std::string_view value) {
  if (value.empty() || (value.front() != '-' && (value.front() < '0' || value.front() > '9')))
    return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc{} && end == value.data() + value.size()) return number;
  const auto parsed = parse(value);  // out of range: a number that is too small becomes 0
  if (!parsed.is_number()) return std::nullopt;
  return parsed.get<double>();
}

namespace {

void put_unit(std::string& text, unsigned unit) {
  constexpr char digits[] = "0123456789abcdef";
  text += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) text += digits[(unit >> shift) & 15U];
}

/// Decodes the character that starts at `at`, in valid UTF-8. Moves `at` to its last byte.
unsigned code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first;
  const unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  unsigned code = first & (0x3FU >> more);
  for (unsigned i = 0; i < more && at + 1 < text.size(); ++i)
    code = code << 6U | (static_cast<unsigned char>(text[++at]) & 0x3FU);
  return code;
}

}  // namespace

std::string one_line(std::string_view json) {
  std::string line;
  line.reserve(json.size());
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') {
      line += c;
      line += json[++at];  // also a quote
    } else if (c > ' ' && c < '\x7f') {
      line += c;
    } else if (in_string && c == ' ') {
      line += c;
    } else if (in_string) {
      const unsigned code = code_point(json, at);
      if (code >= 0x10000) put_unit(line, 0xD7C0U + (code >> 10U));
      put_unit(line, code < 0x10000 ? code : 0xDC00U + (code & 0x3FFU));
    }
  }
  return line;
}

}  // namespace w8y::json_text
