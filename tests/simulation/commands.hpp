// Commands of Redis on the model of its keys: those that scripts and other programs give it, with
// Redis's replies (RESP2) and errors. Held against a real server by the test `simulation-model`.
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
  const Words& words;  ///< of the command, its name among them
  std::vector<Published>& published;

  [[nodiscard]] const std::string& key() const { return words[1]; }
};

/// What Redis answers, in its words.
class CommandError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommandInfo {
  const char* name;  ///< in capitals
  int words;         ///< how many it has, its name among them; negative: at least
  enum class Effect {
    reads,
    writes,
    grows,  ///< writes what a full Redis refuses
  } effect;
  Value (*run)(const CommandCall& call);
};

// By the type of key that they are about.
std::span<const CommandInfo> key_commands();
std::span<const CommandInfo> text_commands();
std::span<const CommandInfo> list_commands();
std::span<const CommandInfo> hash_commands();
std::span<const CommandInfo> set_commands();
std::span<const CommandInfo> sorted_set_commands();
std::span<const CommandInfo> transaction_commands();

/// In capitals or not; nullptr: there is no model of it.
const CommandInfo* command_of(std::string_view name);
/// Why it has too few words or too many; empty: it hasn't.
std::string wrong_count_of(const CommandInfo& info, const Words& words);
/// Its reply, which may be an error. The name is known.
Value run_command(const CommandInfo& info, const CommandCall& call);

// What several of them do. Each throws CommandError.
/// As Redis takes numbers: no blank, no plus, no zero before others.
std::optional<std::int64_t> strict_integer(const std::string& text);
std::int64_t integer_word(const std::string& text);
/// "inf", "-inf" too.
std::optional<double> strict_double(const std::string& text);
/// Of a list of `size`, counted from its end where they are negative; nullopt: nothing.
std::optional<std::pair<std::size_t, std::size_t>> range_within(std::int64_t first,
                                                                std::int64_t last,
                                                                std::size_t size);
/// A number, added to; throws CommandError with `not_integer`.
std::int64_t sum_of_texts(const std::string& text, std::int64_t by, const char* not_integer);
/// The words behind the first `from`, as they stand in a reply.
Value bulk_array(Words words);
/// SCAN of elements by their names: {cursor of the next, elements of this page}. What is there all
/// the time is told once; as in Redis, a small key is told at once.
struct ScanPage {
  std::vector<std::string> names;
  std::string next;
};
ScanPage scan_page(const CommandCall& call, const std::vector<std::string>& names);

}  // namespace w8y::sim
