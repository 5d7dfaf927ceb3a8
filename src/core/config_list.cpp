// Checks of dependencies between the keys of a list.
#include <algorithm>

#include "core/circular_settings.hpp"
#include "core/config_gearman.hpp"
#include "core/config_keys.hpp"
#include "core/schedule_settings.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

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

void warn_of_late_visits(const ConfigValue& list, const ListConfig& rule) {
  const CircularSettings& settings = rule.circular();
  if (settings.overdue_after == Duration{0} || settings.overdue_after > settings.cooldown) return;
  list.warn("has an overdue_after of " + format_duration(settings.overdue_after) +
            ", but a cooldown of " + format_duration(settings.cooldown) +
            "; overdue_after must be longer, or the list is always overdue");
}

constexpr std::size_t index_of(SourceKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Returns the kind of work that a table sets, if it is valid.
std::optional<SourceKind> kind_in(const Node& table) {
  const Node* node = table.find("source");
  if (node == nullptr || node->kind != Node::Kind::text) return std::nullopt;
  for (const Choice<SourceKind>& kind : source_kinds)
    if (node->text == kind.name) return kind.value;
  return std::nullopt;
}

/// Returns "source = \"schedule\" or \"job\"".
std::string sources_text(unsigned kinds) {
  std::string text = "source = ";
  bool first = true;
  for (const Choice<SourceKind>& kind : source_kinds) {
    if ((kinds & kinds_of(kind.value)) == 0) continue;
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

/// Refuses a key prefix for a list with an empty name. Without a name at their end, the own keys of
/// this list would be those of the list that is named like the key prefix.
void check_owns_keys(const ConfigValue& list, const ListConfig& rule) {
  if (!rule.prefix.empty() || rule.bare_key_prefix().empty()) return;
  const std::string text = "has the key prefix " + quote_start(rule.bare_key_prefix()) +
                           ", and the list has an empty name; the list must have a name";
  const Node* const own = list.node().find("key_prefix");
  own == nullptr ? list.wrong_key(text) : list.member(*own).wrong_key(text);
}

/// Checks that a schedule sets its queues, and that `backoff` is set only if it is used.
void check_schedule(const ConfigValue& list, const ListConfig& rule) {
  if (rule.schedule().queues.empty() && list.node().find("queues") == nullptr) {
    list.wrong_key(
        "has no queues, and source = \"schedule\" needs them; set queues, such as queues = \"A\": "
        "the codes after the last ':' of its jobs");
  }
  if (rule.schedule().on_failure == OnFailure::backoff) return;
  for (const char* key : {"backoff", "max_failures"}) {
    if (const Node* own = list.node().find(key))
      list.member(*own).wrong_key(
          "is for circular lists, and for schedules with on_failure = \"backoff\"; omit it, "
          "or set on_failure");
  }
}

}  // namespace

ListDefaults::ListDefaults() {
  for (const Choice<SourceKind>& each : source_kinds)
    rules[index_of(each.value)].source = SourceSettings::of(each.value);
}

void read_defaults(const ConfigValue& section, ListDefaults& into) {
  if (!section.is_table()) return;
  into.kind = kind_in(section.node()).value_or(SourceKind::circular);
  const auto rows = list_keys.subspan(keys_of_lists_only);
  for (const Node& member : section.node().items) {
    const ConfigValue value = section.member(member);
    const Key<ListConfig>* row = row_of(member.key);
    if (row == nullptr || row < rows.data()) {
      unknown_key(value, names_of(rows), list_refused);
      continue;
    }
    const std::size_t before = value.reading().errors.size();
    for (const Choice<SourceKind>& kind : source_kinds) {
      // Each kind would report the same error again.
      if ((row->kinds & kinds_of(kind.value)) == 0) continue;
      ListConfig scratch;
      ListConfig& rule = member.key == "source" ? scratch : into.rules[index_of(kind.value)];
      row->read(value, rule);
      if (value.reading().errors.size() != before || member.key == "source") break;
    }
  }
}

void read_list(const ConfigValue& list, const ListDefaults& defaults, ListConfig& into) {
  const SourceKind kind = kind_in(list.node()).value_or(defaults.kind);
  const std::string prefix = into.prefix;
  into = defaults.rules[index_of(kind)];
  into.prefix = prefix;
  if (!list.is_table()) return;
  for (const Node& member : list.node().items) {
    const ConfigValue value = list.member(member);
    const Key<ListConfig>* row = row_of(member.key);
    if (row == nullptr) {
      unknown_key(value, names_of(list_keys), list_refused);
    } else if ((row->kinds & kinds_of(kind)) == 0) {
      value.wrong_key("is for " + sources_text(row->kinds) + "; this list has " +
                      sources_text(kinds_of(kind)) +
                      (kind == SourceKind::gearman ? why_not_in_gearman(row->name) : ""));
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
  if (rule.kind() == SourceKind::schedule) {
    check_owns_keys(list, rule);
    if (rule.bare_key_prefix() == rule.prefix && !rule.key_suffix().empty())
      rule.schedule().key_prefix.reset();
    check_schedule(list, rule);
  }
  if (rule.kind() == SourceKind::gearman) check_function(list, rule);
  if (rule.kind() == SourceKind::circular) warn_of_late_visits(list, rule);
  if (command == nullptr) return check_name(list, rule);
  // A job's payload is sent on standard input.
  if (rule.traits().has_payload) return;
  warn_without_item(list.member(*command), rule);
}

}  // namespace w8y::core
