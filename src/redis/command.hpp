// Commands in the form that Redis reads.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::redis {

/// The words of one command. Only borrowed: they are copied into the output before call() returns.
using Command = std::vector<std::string_view>;

/// What a word has around it, at most: its header and the end of its line.
inline constexpr std::size_t max_around_word = 26;

/// "*<words>\r\n": what a command starts with.
void append_count(std::string& out, std::size_t words);
/// "$<length>\r\n<word>\r\n"
void append_word(std::string& out, std::string_view word);
void append_words(std::string& out, std::span<const std::string_view> words);
void append_command(std::string& out, const Command& command);

}  // namespace w8y::redis
