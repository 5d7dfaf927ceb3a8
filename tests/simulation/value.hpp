// A reply of Redis, and the words of a command, as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace w8y::sim {

using Words = std::vector<std::string>;

struct Value {
  enum class Kind { nil, integer, bulk, status, error, array };
  Kind kind = Kind::nil;
  std::int64_t number = 0;
  std::string text;
  std::vector<Value> elements;

  static Value of(std::int64_t number) { return {Kind::integer, number, {}, {}}; }
  static Value of(std::string text) { return {Kind::bulk, 0, std::move(text), {}}; }
  static Value status(std::string text) { return {Kind::status, 0, std::move(text), {}}; }
  static Value error(std::string text) { return {Kind::error, 0, std::move(text), {}}; }
  static Value array(std::vector<Value> elements) {
    return {Kind::array, 0, {}, std::move(elements)};
  }
};

void append(std::string& out, const Value& value);
/// For people: ["ok", 3].
std::string to_text(const Value& value);

/// One whole command that begins at `at`, which then is behind it; nullopt: it is not whole yet.
std::optional<Words> take_command(std::string_view bytes, std::size_t& at);
/// Takes it off the beginning of `bytes`.
std::optional<Words> take_command(std::string& bytes);

}  // namespace w8y::sim
