// A JSON object as text, written as it comes: some are made for every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace w8y::core {

/// How characters that are not ASCII are written.
enum class JsonText {
  utf8,   ///< as they are: for Redis
  ascii,  ///< as \uXXXX: fit for a terminal
};

class JsonObject {
 public:
  /// `size`: about as long as its text will be.
  explicit JsonObject(std::size_t size, JsonText form = JsonText::utf8)
      : text_(size, '\0'), form_(form) {}

  /// What is no UTF-8 in it gets U+FFFD.
  void put(std::string_view name, std::string_view value);
  void put(std::string_view name, std::int64_t value);
  /// `value` as it is.
  void put_json(std::string_view name, std::string_view value);
  /// As text under `name`; as base64 under `name`_base64 if they are no UTF-8.
  void put_bytes(std::string_view name, const std::string& bytes);
  /// It is over; to be called once.
  std::string take();

 private:
  void put_plain(std::string_view name, std::string_view value);

  char* grow(std::size_t more);
  void make_room();

  std::string text_;      ///< as long as there is room
  std::size_t size_ = 0;  ///< of what is written
  JsonText form_;
};

class AsciiObject : public JsonObject {
 public:
  explicit AsciiObject(std::size_t size) : JsonObject(size, JsonText::ascii) {}
};

}  // namespace w8y::core
