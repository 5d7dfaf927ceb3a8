// Commands in the protocol of Redis.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace w8y::redis {

/// The words of one command. They are borrowed: call() copies them into the output before it
/// returns.
using Command = std::vector<std::string_view>;

/// Maximum number of bytes around a word: its header and the end of its line.
inline constexpr std::size_t max_around_word = 26;

/// Appends "*<words>\r
/// ", the start of a command.
void append_count(std::string& out, std::size_t words);
/// Appends "$<length>\r
/// <word>\r
/// ".
void append_word(std::string& out, std::string_view word);
void append_words(std::string& out, std::span<const std::string_view> words);
void append_command(std::string& out, const Command& command);

}  // namespace w8y::redis
