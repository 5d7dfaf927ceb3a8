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

}  // namespace

void JsonObject::begin(std::string_view name) {
  text_.append(text_.empty() ? "{\"" : ",\"").append(name).append("\":");
}

void JsonObject::put(std::string_view name, std::string_view value) {
  begin(name);
  if (is_plain(value)) {
    text_.append(1, '"').append(value).append(1, '"');
  } else {
    text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void JsonObject::put_json(std::string_view name, std::string_view value) {
  begin(name);
  text_ += value;
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
