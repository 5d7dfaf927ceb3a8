// Builder of a JSON object as text, without a tree of values: it is used for every run.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace w8y::core {

/// How characters outside ASCII are written.
enum class JsonText {
  utf8,   ///< unchanged: for Redis
  ascii,  ///< as \uXXXX: safe for a terminal
};

class JsonObject {
 public:
  static constexpr std::size_t usual_size = 256;
  /// `size`: approximate length of the text.
  explicit JsonObject(std::size_t size = usual_size, JsonText form = JsonText::utf8)
      : text_(size, '\0'), form_(form) {}

  /// Adds a string. U+FFFD replaces bytes that are not valid UTF-8.
  void put(std::string_view name, std::string_view value);
  void put(std::string_view name, std::int64_t value);
  void put(std::string_view name, std::uint64_t value);
  /// Adds an integer or a boolean.
  template <std::integral Value>
  requires(!std::same_as<Value, std::int64_t> &&
           !std::same_as<Value, std::uint64_t>) void put(std::string_view name, Value value) {
    if constexpr (std::same_as<Value, bool>) {
      put_json(name, value ? "true" : "false");
    } else {
      put(name, static_cast<std::int64_t>(value));
    }
  }
  /// Adds `value` unchanged.
  void put_json(std::string_view name, std::string_view value);
  /// Adds bytes as a string under `name`, or in base64 under `name`_base64 if they are not valid
  /// UTF-8.
  void put_bytes(std::string_view name, std::string_view bytes);
  /// Returns the complete object. Must not be called again.
  std::string finish();

 private:
  void put_plain(std::string_view name, std::string_view value);
  template <class Integer>
  void put_integer(std::string_view name, Integer value);

  char* grow(std::size_t more);
  void make_room();

  std::string text_;      ///< its length is the capacity
  std::size_t size_ = 0;  ///< length of the text so far
  JsonText form_;
};

class AsciiObject : public JsonObject {
 public:
  explicit AsciiObject(std::size_t size = usual_size) : JsonObject(size, JsonText::ascii) {}
};

/// Returns a JSON string with its quotes.
std::string json_string(std::string_view value, JsonText form = JsonText::ascii);

/// Builder of a JSON array as text.
class JsonArray {
 public:
  /// Adds `json` unchanged.
  void add(std::string_view json);
  void add_text(std::string_view value, JsonText form = JsonText::ascii);
  [[nodiscard]] bool empty() const { return text_.empty(); }
  /// Returns the complete array. Must not be called again.
  std::string finish();

 private:
  std::string text_;
};

/// Returns a JSON array of the JSON texts that `write` returns for the elements of `range`.
template <class Range, class Write>
std::string json_array(Range&& range, const Write& write) {
  JsonArray array;
  for (auto&& each : range) array.add(write(each));
  return array.finish();
}

}  // namespace w8y::core
