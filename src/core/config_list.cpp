// What must hold between the keys of a list.
#include <algorithm>

#include "core/config_keys.hpp"
#include "core/text.hpp"

namespace w8y::core {

namespace {

unsigned forms_of(const Rule& rule, bool is_command) {
  if (is_command) return static_cast<unsigned>(Form::command);
  if (rule.mode == Mode::single) return static_cast<unsigned>(Form::single);
  if (rule.mode == Mode::stream) return static_cast<unsigned>(Form::stream);
  return Form::single | Form::stream;
}

/// Reports the list's own keys that are not for such a list. What [defaults] says of them is for
/// other lists.
void check_applies(const ConfigValue& list, Rule& rule, bool is_command) {
  static const Rule fallback;
  const unsigned forms = forms_of(rule, is_command);
  for (const Key<Rule>& row : list_keys) {
    if (!row.only_for || (row.only_for->forms & forms) != 0) continue;
    const Node* own = list.node().find(row.name);
    if (own != nullptr) {
      list.member(*own).wrong_key(is_command ? row.only_for->why_not_command
                                             : row.only_for->why_not_executor);
    }
    row.only_for->copy(fallback, rule);
  }
}

/// MAX_ARG_STRLEN of Linux, with its final NUL.
constexpr std::size_t longest_argument = std::size_t{128} << 10;

/// An executor is called with the prefix as an argument.
void check_name(const ConfigValue& list, const Rule& rule) {
  if (rule.prefix.find('\0') != std::string::npos) {
    list.wrong_key(
        "has a NUL byte, and an executor is called with the prefix as an argument, which can't "
        "hold one; must be a prefix without NUL, or a command");
  } else if (rule.prefix.size() >= longest_argument) {
    list.wrong_key(
        "is longer than an argument can be, and an executor is called with it; must be "
        "shorter than 128 KiB, or a command");
  }
}

/// Most often it was forgotten. A command that names the item's variable knows what it does.
void warn_without_item(const ConfigValue& list, const Rule& rule) {
  const bool names_item =
      std::any_of(rule.command.begin(), rule.command.end(), [](const std::string& word) {
        return word.find("{}") != std::string::npos || word.find("W8Y_ITEM") != std::string::npos;
      });
  if (names_item || !rule.child->env_var.empty()) return;
  list.warn(
      "has no {} in its command, so each run is called alike; the item stands where {} "
      "stands, and in the variable W8Y_ITEM");
}

}  // namespace

void check_list(const ConfigValue& list, Rule& rule) {
  const Node* executor = list.node().find("executor");
  const Node* command = list.node().find("command");
  if (executor != nullptr && command != nullptr) {
    return list.member(*command).wrong_key(
        "stands beside executor; a list has either an executor or a command");
  }
  if (executor == nullptr && command == nullptr) {
    return list.wrong_key(
        "has neither executor nor command; must have executor = \"/absolute/path\", or command = "
        "[\"program\", \"{}\"]");
  }
  if (rule.child->run_as.user && !list.reading().root) {
    list.warn(
        "has a user, but w8yd does not run as root: the list is refused unless that is the same "
        "user");
  }
  check_applies(list, rule, command != nullptr);
  if (command == nullptr) return check_name(list, rule);
  warn_without_item(list.member(*command), rule);
}

}  // namespace w8y::core
