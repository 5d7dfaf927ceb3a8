// Conversion of command-line arguments to values. All functions throw Failure for an invalid
// argument.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "ctl/arguments.hpp"
#include "ctl/options.hpp"

namespace w8y::ctl {

/// Returns the name of a list, without its final ':'.
std::string prefix_of(std::string word);
/// Decodes base64. The error names `option`, which requires it.
std::string decoded(std::string word, const char* option = "--base64");
Duration duration_of(const char* option, const std::string& text);
std::size_t number_of(const char* option, const std::string& text, std::size_t most);
std::string one_of(const char* option, const std::string& text,
                   std::initializer_list<const char*> choices);
/// Parses a time, "2026-01-31T12:00:00Z" or "2026-01-31 12:00" in the operator's zone, or a
/// duration before `now`.
WallTime moment_of(const char* option, const std::string& text, WallTime now);

/// Checks a state of an item: free, running, delayed or quarantined.
std::string item_state_of(const std::string& text);
/// Checks a state of an item of any kind of list.
std::string any_item_state_of(const std::string& text);
inline constexpr const char* item_states_text = "free, running, delayed or quarantined";

constexpr std::size_t max_shown = 1'000'000;

// Arguments that several subcommands have.
void declare_prefix(Arguments& words, const char* what, std::string& into);
void declare_prefix_or_none(Arguments& words, const char* what, std::optional<std::string>& into);
void declare_reason(Arguments& words, std::string& into);
/// Declares --raw, for groups whose subcommands print bytes of others as records.
void declare_raw(Arguments& words, Options& options);
void declare_limit(Arguments& words, const char* what, std::size_t& into);
/// Declares an option with a duration. `needs`: "a duration, such as 1h".
template <class Into>
void declare_duration(Arguments& words, const char* option, const char* needs, const char* what,
                      Into& into) {
  words.option(option, "DURATION", needs, what,
               [option, &into](Argument&& word) { into = duration_of(option, word.text); });
}

/// Items on the command line, as they are or in base64.
class ItemArguments {
 public:
  /// Declares one or more items as arguments; with `or_none`, zero or more.
  void declare(Arguments& words, bool or_none = false);
  /// Declares at most one item, as an option.
  void declare_option(Arguments& words, const char* what);

  std::vector<Item> items;
  bool base64 = false;

 private:
  void add(Argument&& word);
};

}  // namespace w8y::ctl
