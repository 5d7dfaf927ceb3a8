// Redis commands on the model of the keys: the commands that scripts and other programs send, with
// the replies (RESP2) and errors of Redis. The test `simulation-model` compares them with a real
// server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/keys.hpp"
#include "simulation/value.hpp"

namespace w8y::sim {

struct Published {
  std::string channel;
  std::string text;
  bool operator==(const Published&) const = default;
};

struct CommandCall {
  Keys& keys;
  const Words& words;  ///< the command with its name
  std::vector<Published>& published;

  [[nodiscard]] const std::string& key() const { return words[1]; }
};

/// Error reply of Redis.
class CommandError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommandInfo {
  const char* name;  ///< in capitals
  int words;         ///< number of words with the name; negative: minimum
  enum class Effect {
    reads,
    writes,
    grows,  ///< writes, and is refused by a full Redis
  } effect;
  Value (*run)(const CommandCall& call);
};

// Commands by the type of their keys.
std::span<const CommandInfo> key_commands();
std::span<const CommandInfo> text_commands();
std::span<const CommandInfo> list_commands();
std::span<const CommandInfo> hash_commands();
std::span<const CommandInfo> set_commands();
std::span<const CommandInfo> sorted_set_commands();
std::span<const CommandInfo> transaction_commands();

/// Finds a command by its name in upper or lower case; nullptr if the model does not have it.
const CommandInfo* command_of(std::string_view name);
/// Returns the error if a command has too few or too many words, or an empty string.
std::string wrong_count_of(const CommandInfo& info, const Words& words);
/// Runs a command and returns its reply, which may be an error.
Value run_command(const CommandInfo& info, const CommandCall& call);

// Helpers of several commands. Each may throw CommandError.
/// Parses an integer as Redis does: no blank, no plus sign, no leading zero.
std::optional<std::int64_t> strict_integer(const std::string& text);
std::int64_t integer_word(const std::string& text);
/// Parses a number, also "inf" and "-inf".
std::optional<double> strict_double(const std::string& text);
/// Returns the range within a list of `size` elements. Negative indexes count from the end; nullopt
/// if the range is empty.
std::optional<std::pair<std::size_t, std::size_t>> range_within(std::int64_t first,
                                                                std::int64_t last,
                                                                std::size_t size);
/// Adds `by` to the number in `text`. Throws CommandError with `not_integer`.
std::int64_t sum_of_texts(const std::string& text, std::int64_t by, const char* not_integer);
/// Returns an array reply with these words.
Value bulk_array(Words words);
/// Page of a SCAN, and the cursor of the next page. A scan returns each element that exists during
/// the whole scan exactly once. It returns a small key in one page, as Redis does.
struct ScanPage {
  std::vector<std::string> names;
  std::string next;
};
ScanPage scan_page(const CommandCall& call, const std::vector<std::string>& names);

}  // namespace w8y::sim
