#include "core/json_object.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include <w8y/base64.hpp>
#include <w8y/escape.hpp>

namespace w8y::core {

namespace {

/// Nothing in it needs an escape: names, ids and most items.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

char* copy(std::string_view text, char* to) {
  return std::copy(text.begin(), text.end(), to);
}

/// `more` characters at the end, to be written.
char* grow(std::string& text, std::size_t more) {
  const std::size_t size = text.size();
  text.resize(size + more);
  return text.data() + size;
}

/// What is before a value: `{"name":`, or with a comma.
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

void JsonObject::put(std::string_view name, std::string_view value) {
  if (!is_plain(value))
    return put_json(
        name, nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const bool first = text_.empty();
  char* to = grow(text_, name.size() + around_name + value.size() + 2);
  to = write_name(name, first, to);
  *to++ = '"';
  to = copy(value, to);
  *to = '"';
}

void JsonObject::put_json(std::string_view name, std::string_view value) {
  const bool first = text_.empty();
  copy(value, write_name(name, first, grow(text_, name.size() + around_name + value.size())));
}

void JsonObject::put_bytes(std::string_view name, const std::string& bytes) {
  if (is_utf8(bytes)) return put(name, bytes);
  put(std::string(name) + "_base64", base64_encode(bytes));
}

std::string JsonObject::take() {
  if (text_.empty()) text_ = "{";
  return std::move(text_.append(1, '}'));
}

}  // namespace w8y::core
