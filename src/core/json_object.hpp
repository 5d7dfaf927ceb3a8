// A JSON object as text, written as it comes: some are made for every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace w8y::core {

class JsonObject {
 public:
  /// `size`: about as long as its text will be.
  explicit JsonObject(std::size_t size) { text_.reserve(size); }

  /// What is no UTF-8 in it gets U+FFFD.
  void put(std::string_view name, std::string_view value);
  void put(std::string_view name, std::int64_t value) { put_json(name, std::to_string(value)); }
  /// `value` as it is.
  void put_json(std::string_view name, std::string_view value);
  /// As text under `name`; as base64 under `name`_base64 if they are no UTF-8.
  void put_bytes(std::string_view name, const std::string& bytes);
  /// It is over; to be called once.
  std::string take();

 private:
  std::string text_;
};

}  // namespace w8y::core
