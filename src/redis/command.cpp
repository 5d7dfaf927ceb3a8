#include "redis/command.hpp"

#include <algorithm>
#include <charconv>

namespace w8y::redis {

namespace {

/// As long as any header is.
constexpr std::size_t longest_header = 24;

char* write_end(char* to) {
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

char* write_header(char type, std::size_t number, char* to) {
  *to = type;
  return write_end(std::to_chars(to + 1, to + longest_header - 2, number).ptr);
}

}  // namespace

void append_count(std::string& out, std::size_t words) {
  char header[longest_header];
  out.append(header, write_header('*', words, header));
}

/// Once made room for, and written there: a word may be a password, which is to be nowhere else.
void append_word(std::string& out, std::string_view word) {
  char header[longest_header];
  const char* const end = write_header('$', word.size(), header);
  const auto before = out.size();
  out.resize(before + static_cast<std::size_t>(end - header) + word.size() + 2);
  char* const to = std::copy(static_cast<const char*>(header), end, out.data() + before);
  write_end(std::copy(word.begin(), word.end(), to));
}

void append_command(std::string& out, const Command& command) {
  append_count(out, command.size());
  for (const std::string_view word : command) append_word(out, word);
}

}  // namespace w8y::redis
