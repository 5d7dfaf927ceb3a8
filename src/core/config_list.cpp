// Checks of dependencies between the keys of a list.
#include <algorithm>

#include "core/config_keys.hpp"
#include "core/config_kinds.hpp"
#include "core/text.hpp"

namespace w8y::core {

unsigned forms_of(const ListConfig& rule, bool is_command) {
  if (is_command) return static_cast<unsigned>(Form::command);
  if (rule.mode == Mode::single) return static_cast<unsigned>(Form::single);
  if (rule.mode == Mode::stream) return static_cast<unsigned>(Form::stream);
  return Form::single | Form::stream;
}

namespace {

/// Reports keys of the list that are not valid for its mode. The values of such keys in [defaults]
/// are for other lists.
void check_applies(const ConfigValue& list, ListConfig& rule, bool is_command) {
  static const ListConfig fallback;
  const unsigned forms = forms_of(rule, is_command);
  for (const Key<ListConfig>& row : list_keys) {
    if (!row.only_for || (row.only_for->forms & forms) != 0) continue;
    const Node* own = list.node().find(row.name);
    if (own != nullptr) {
      list.member(*own).wrong_key(is_command ? row.only_for->why_not_command
                                             : row.only_for->why_not_executor);
    }
    row.only_for->copy(fallback, rule);
  }
}

/// MAX_ARG_STRLEN of Linux, including the final NUL.
constexpr std::size_t max_argument = std::size_t{128} << 10;

/// An executor gets the prefix as an argument.
void check_name(const ConfigValue& list, const ListConfig& rule) {
  if (rule.prefix.find('\0') != std::string::npos) {
    list.wrong_key(
        "has a NUL byte, but an executor gets the name of the list as an argument, which cannot "
        "have NUL bytes; rename the list, or use a command");
  } else if (rule.prefix.size() >= max_argument) {
    list.wrong_key(
        "is too long to be an argument of the executor; use a name that is shorter than 128 KiB, "
        "or a command");
  }
}

/// Warns about a command without the item, which is usually an error. No warning if the command
/// uses the item's variable.
void warn_without_item(const ConfigValue& list, const ListConfig& rule) {
  const bool names_item =
      std::any_of(rule.command->begin(), rule.command->end(), [](const std::string& word) {
        return word.find("{}") != std::string::npos || word.find("W8Y_ITEM") != std::string::npos;
      });
  if (names_item || !rule.child->env_var.empty()) return;
  list.warn(
      "has no {} in its command, so that each run has the same arguments; {} stands for the item, "
      "which is also in the variable W8Y_ITEM");
}

/// Returns the kind of work that a table sets, if it is valid; otherwise `fallback`.
const KindTraits* kind_in(const Node& table, const KindTraits* fallback) {
  const Node* node = table.find("source");
  if (node == nullptr || node->kind != Node::Kind::text) return fallback;
  for (const KindTraits& kind : kind_rows)
    if (node->text == kind.name) return &kind;
  return fallback;
}

/// Returns "source = \"schedule\" or \"job\"".
std::string sources_text(unsigned kinds) {
  std::string text = "source = ";
  bool first = true;
  for (const KindTraits& kind : kind_rows) {
    if ((kinds & kind.bit()) == 0) continue;
    text += (first ? "" : " or ") + quote(kind.name);
    first = false;
  }
  return text;
}

const Key<ListConfig>* row_of(std::string_view name) {
  for (const Key<ListConfig>& row : list_keys)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

ListDefaults::ListDefaults() {
  for (const KindTraits& each : kind_rows)
    rules[each.index()].source = SourceSettings::of(each.kind);
}

void read_defaults(const ConfigValue& section, ListDefaults& into) {
  if (!section.is_table()) return;
  into.kind = kind_in(section.node(), default_kind);
  const auto rows = list_keys.subspan(keys_of_lists_only);
  for (const Node& member : section.node().items) {
    const ConfigValue value = section.member(member);
    const Key<ListConfig>* row = row_of(member.key);
    if (row == nullptr || row < rows.data()) {
      unknown_key(value, names_of(rows), list_refused);
      continue;
    }
    const std::size_t before = value.reading().errors.size();
    for (const KindTraits& kind : kind_rows) {
      // Each kind would report the same error again.
      if ((row->kinds & kind.bit()) == 0) continue;
      ListConfig scratch;
      ListConfig& rule = member.key == "source" ? scratch : into.rules[kind.index()];
      row->read(value, rule);
      if (value.reading().errors.size() != before || member.key == "source") break;
    }
  }
}

void read_list(const ConfigValue& list, const ListDefaults& defaults, ListConfig& into) {
  const KindTraits& kind = *kind_in(list.node(), defaults.kind);
  const std::string prefix = into.prefix;
  into = defaults.rules[kind.index()];
  into.prefix = prefix;
  if (!list.is_table()) return;
  const KindChecks& checks = checks_of(kind);
  for (const Node& member : list.node().items) {
    const ConfigValue value = list.member(member);
    const Key<ListConfig>* row = row_of(member.key);
    if (row == nullptr) {
      unknown_key(value, names_of(list_keys), list_refused);
    } else if ((row->kinds & kind.bit()) == 0) {
      value.wrong_key("is for " + sources_text(row->kinds) + "; this list has " +
                      sources_text(kind.bit()) +
                      (checks.why_not != nullptr ? checks.why_not(row->name) : ""));
    } else {
      row->read(value, into);
    }
  }
  check_list(list, into);
}

void check_list(const ConfigValue& list, ListConfig& rule) {
  const Node* executor = list.node().find("executor");
  const Node* command = list.node().find("command");
  if (executor != nullptr && command != nullptr) {
    return list.member(*command).wrong_key(
        "is set together with executor; a list has either an executor or a command");
  }
  if (executor == nullptr && command == nullptr) {
    return list.wrong_key(
        "has neither executor nor command; must have executor = \"/absolute/path\", or command = "
        "[\"program\", \"{}\"]");
  }
  if (rule.child->run_as.user && !list.reading().root) {
    list.warn(
        "has a user, but w8yd does not run as root: the host is ineligible for the list unless "
        "w8yd runs as this user");
  }
  check_applies(list, rule, command != nullptr);
  if (const auto check = checks_of(rule.traits()).check; check != nullptr) check(list, rule);
  if (command == nullptr) return check_name(list, rule);
  // A job's payload is sent on standard input.
  if (rule.traits().has_payload) return;
  warn_without_item(list.member(*command), rule);
}

}  // namespace w8y::core
