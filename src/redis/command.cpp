#include "redis/command.hpp"

#include <charconv>

namespace w8y::redis {

namespace {

void append_header(std::string& out, char type, std::size_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out += type;
  out.append(digits, end);
  out += "\r\n";
}

}  // namespace

void append_count(std::string& out, std::size_t words) {
  append_header(out, '*', words);
}

void append_word(std::string& out, std::string_view word) {
  append_header(out, '$', word.size());
  out += word;
  out += "\r\n";
}

void append_command(std::string& out, const Command& command) {
  append_count(out, command.size());
  for (const std::string_view word : command) append_word(out, word);
}

}  // namespace w8y::redis
