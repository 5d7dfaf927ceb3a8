#include "redis/command.hpp"

#include <algorithm>
#include <charconv>

namespace w8y::redis {

namespace {

/// Maximum length of a header.
constexpr std::size_t max_header = max_around_word - 2;

char* write_end(char* to) {
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

char* write_header(char type, std::size_t number, char* to) {
  *to = type;
  if (number < 10) {  // most names and numbers
    to[1] = static_cast<char>('0' + number);
    return write_end(to + 2);
  }
  return write_end(std::to_chars(to + 1, to + max_header - 2, number).ptr);
}

}  // namespace

void append_count(std::string& out, std::size_t words) {
  char header[max_header];
  out.append(header, write_header('*', words, header));
}

/// Reserves the memory once and writes in place. A word may be a password, of which no other copy
/// may exist.
void append_words(std::string& out, std::span<const std::string_view> words) {
  const auto before = out.size();
  std::size_t most = 0;
  for (const std::string_view word : words) most += word.size() + max_around_word;
  out.resize(before + most);
  char* to = out.data() + before;
  for (const std::string_view word : words) {
    to = write_header('$', word.size(), to);
    to = write_end(std::copy(word.begin(), word.end(), to));
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

void append_word(std::string& out, std::string_view word) {
  append_words(out, {&word, 1});
}

void append_command(std::string& out, const Command& command) {
  append_count(out, command.size());
  append_words(out, command);
}

}  // namespace w8y::redis
