#include "core/json_object.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/base64.hpp"
#include "core/escape.hpp"

namespace w8y::core {

namespace {

/// Eight characters that are processed at once.
using Word = std::uint64_t;
constexpr Word each(unsigned char value) {
  return value * (~Word{0} / 0xFF);
}
/// Returns whether a byte is less than `most`, which is at most 0x80.
constexpr Word any_below(Word word, unsigned char most) {
  return (word - each(most)) & ~word & each(0x80);
}
/// Returns 0 if no byte is a control character, a quote, a backslash, DEL or outside ASCII.
constexpr Word escapes(Word word) {
  return any_below(word, ' ') | any_below(word ^ each('"'), 1) | any_below(word ^ each('\\'), 1) |
         ((word + each(1)) & each(0x80)) | (word & each(0x80));
}
Word word_at(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Returns whether no character needs an escape: true for names, IDs and most items.
bool is_plain(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (text.size() < sizeof(Word)) {
    Word word = each('x');
    for (; at != end; ++at) word = word << 8U | static_cast<unsigned char>(*at);
    return escapes(word) == 0;
  }
  Word found = escapes(word_at(end - sizeof(Word)));
  for (; static_cast<std::size_t>(end - at) > sizeof(Word) && found == 0; at += sizeof(Word))
    found = escapes(word_at(at));
  return found == 0;
}

/// Copies short texts inline: a call of memcpy for each would cost more than the copy.
char* copy(std::string_view text, char* to) {
  constexpr std::size_t half = sizeof(Word);
  if (text.size() < half || text.size() > 2 * half) return std::copy(text.begin(), text.end(), to);
  std::memcpy(to, text.data(), half);
  std::memcpy(to + text.size() - half, text.data() + text.size() - half, half);
  return to + text.size();
}

/// Number of characters around a name: `{"name":`, or with a comma.
constexpr std::size_t around_name = 4;

char* write_name(std::string_view name, bool first, char* to) {
  *to++ = first ? '{' : ',';
  *to++ = '"';
  to = copy(name, to);
  *to++ = '"';
  *to++ = ':';
  return to;
}

}  // namespace

/// Appends `more` characters, to be overwritten by the caller.
inline char* JsonObject::grow(std::size_t more) {
  const std::size_t before = size_;
  size_ += more;
  if (size_ > text_.size()) make_room();
  return text_.data() + before;
}

void JsonObject::put(std::string_view name, std::string_view value) {
  if (is_plain(value)) return put_plain(name, value);
  put_json(name, nlohmann::json(value).dump(-1, ' ', form_ == JsonText::ascii,
                                            nlohmann::json::error_handler_t::replace));
}

void JsonObject::put_plain(std::string_view name, std::string_view value) {
  const bool first = size_ == 0;
  char* to = grow(name.size() + around_name + value.size() + 2);
  to = write_name(name, first, to);
  *to++ = '"';
  to = copy(value, to);
  *to = '"';
}

template <class Integer>
void JsonObject::put_integer(std::string_view name, Integer value) {
  constexpr std::size_t max_number = 20;
  const bool first = size_ == 0;
  char* to = grow(name.size() + around_name + max_number);
  to = write_name(name, first, to);
  to = std::to_chars(to, to + max_number, value).ptr;
  size_ = static_cast<std::size_t>(to - text_.data());
}

void JsonObject::put(std::string_view name, std::int64_t value) {
  put_integer(name, value);
}

void JsonObject::put(std::string_view name, std::uint64_t value) {
  put_integer(name, value);
}

void JsonObject::put_json(std::string_view name, std::string_view value) {
  const bool first = size_ == 0;
  copy(value, write_name(name, first, grow(name.size() + around_name + value.size())));
}

void JsonObject::put_bytes(std::string_view name, std::string_view bytes) {
  if (is_plain(bytes)) return put_plain(name, bytes);
  if (is_utf8(bytes)) return put(name, bytes);
  put(std::string(name) + "_base64", base64_encode(bytes));
}

std::string JsonObject::finish() {
  if (size_ == 0) *grow(1) = '{';
  *grow(1) = '}';
  text_.resize(size_);
  return std::move(text_);
}

void JsonObject::make_room() {
  text_.resize(std::max(size_, 2 * text_.size()));
}

std::string json_string(std::string_view value, JsonText form) {
  JsonObject object(value.size() + 8, form);
  object.put("", value);
  std::string text = object.finish();  // {"":VALUE}
  text.pop_back();
  return text.erase(0, 4);
}

void JsonArray::add(std::string_view json) {
  text_ += text_.empty() ? '[' : ',';
  text_ += json;
}

void JsonArray::add_text(std::string_view value, JsonText form) {
  add(json_string(value, form));
}

std::string JsonArray::finish() {
  return text_.empty() ? "[]" : std::move(text_ += ']');
}

}  // namespace w8y::core
