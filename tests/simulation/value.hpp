// Replies of Redis and words of Redis commands, and their encoding.
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
/// Returns a readable text such as ["ok", 3].
std::string to_text(const Value& value);

/// Returns the command at `at` and moves `at` behind it; nullopt if the command is not complete
/// yet.
std::optional<Words> parse_command(std::string_view bytes, std::size_t& at);
/// The same for the start of `bytes`, from which the command is removed.
std::optional<Words> parse_command(std::string& bytes);

}  // namespace w8y::sim
