// The keys of a table of the configuration, a row each, and how a table is read by its rows.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/config_value.hpp"
#include "core/list_config.hpp"

namespace w8y::core {

/// How a list runs its items. One with `mode = "auto"` runs them as its executor offers.
enum class Form : unsigned { command = 1, single = 2, stream = 4 };
constexpr unsigned operator|(Form a, Form b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}

/// A key that is not for every list. In [defaults] it counts for the lists that it is for; in
/// another list it is a mistake.
template <class T>
struct OnlyFor {
  unsigned forms;
  void (*copy)(const T& from, T& into);
  const char* why_not_command;             ///< "is …"; null: it is for commands
  const char* why_not_executor = nullptr;  ///< the same for an executor's other form
};

/// Kinds of work as a set: a key may be for some of them only.
constexpr unsigned kinds_of(SourceKind kind) {
  return 1U << static_cast<unsigned>(kind);
}
constexpr unsigned all_kinds = (1U << source_kind_count) - 1;

/// All that is to be said of a key: the parser, the text of a setting and the hash follow its row,
/// and the schema, the sample and the manual are tested against it.
template <class T>
struct Key {
  const char* name;
  /// The default in TOML, as the documentation shows it; empty: none. What it stands for is set by
  /// the initializers of `T`; a test compares them.
  const char* fallback;
  void (*read)(const ConfigValue& value, T& into);
  /// As describe() has it. It shows no secret.
  std::string (*show)(const T& from);
  std::optional<OnlyFor<T>> only_for = std::nullopt;
  /// Of lists: the kinds of work that it is for. In [defaults] it counts for these; in another list
  /// it is a mistake, and `read` and `show` see no rule of another kind.
  unsigned kinds = all_kinds;
};

/// A key that is not for here, with the reason.
struct Refused {
  std::string_view name;
  const char* why;
};

extern const std::span<const Key<RedisSettings>> redis_keys;
extern const std::span<const Key<SupervisorSettings>> supervisor_keys;
/// `executor` and `command` come first: the rest may stand in [defaults].
extern const std::span<const Key<ListConfig>> list_keys;
extern const std::span<const Refused> list_refused;
/// The keys of `source`.
extern const std::span<const Choice<SourceKind>> source_kinds;
const std::vector<const Key<ListConfig>*>& list_keys_by_name();
constexpr std::size_t keys_of_lists_only = 2;
extern const std::span<const Key<Backoff>> backoff_keys;

/// What only makes sense together: TLS files with a TLS URL, a key with its certificate.
void check_redis(const ConfigValue& section, const RedisSettings& redis);
bool asks_for_cluster(std::string_view url);
/// As Redis Cluster finds the slot of a key: by what stands in the first pair of braces, if
/// anything does.
bool has_hash_tag(std::string_view prefix);

/// How the number of a resource limit is written.
enum class LimitUnit { count, size, seconds, microseconds };
struct Limit {
  const char* name;
  int resource;
  LimitUnit unit;
};
extern const std::span<const Limit> limits;

/// Reports a key that none of `known` is, with the name or the section that was meant.
void unknown_key(const ConfigValue& value, const std::vector<std::string_view>& known,
                 std::span<const Refused> refused);

template <class T>
std::vector<std::string_view> names_of(std::span<const T> rows) {
  std::vector<std::string_view> names;
  for (const T& row : rows) names.push_back(row.name);
  return names;
}

/// Reads each member of `table` by its row.
template <class T>
void read_table(const ConfigValue& table, std::span<const Key<T>> keys,
                std::span<const Refused> refused, T& into) {
  if (!table.is_table()) return;
  for (const Node& member : table.node().items) {
    const ConfigValue value = table.member(member);
    const Key<T>* row = nullptr;
    for (const Key<T>& key : keys) {
      if (key.name == member.key) row = &key;
    }
    if (row == nullptr) {
      unknown_key(value, names_of(keys), refused);
    } else {
      row->read(value, into);
    }
  }
}

/// [defaults], for lists of each kind of work.
struct ListDefaults {
  ListDefaults();
  std::array<ListConfig, source_kind_count> rules;
  SourceKind kind = SourceKind::circular;
};
void read_defaults(const ConfigValue& section, ListDefaults& into);
/// All keys of one list, and what is wrong between them, each being right by itself.
void read_list(const ConfigValue& list, const ListDefaults& defaults, ListConfig& into);
/// How a list may run its items, as a set of Form.
unsigned forms_of(const ListConfig& rule, bool is_command);
/// What is wrong between keys of one list, each of them being right by itself.
void check_list(const ConfigValue& list, ListConfig& rule);

/// Of one list, at once.
inline constexpr std::int64_t max_runs = 100'000;
/// A number, or a share of the processors that this host may use: "cpus", "cpus*2", "cpus/2".
void read_concurrency(const ConfigValue& value, ListConfig& rule);
std::string show_concurrency(const ListConfig& rule);
void read_backoff(const ConfigValue& value, ListConfig& rule);
void read_rlimits(const ConfigValue& value, ListConfig& rule);
void read_env(const ConfigValue& value, ListConfig& rule);
void read_env_pass(const ConfigValue& value, ListConfig& rule);
void read_umask(const ConfigValue& value, ListConfig& rule);
/// The name or number of a `what`. Whether a host has it is that host's own affair.
void read_account(const ConfigValue& value, const std::string& what,
                  std::optional<std::string>& into);

/// A part of the configuration's hash: one key that differs on some hosts. `said` has it.
std::uint64_t hash_override(std::string_view pattern, std::string_view key, const ListConfig& said);
std::uint64_t hash_override(std::string_view pattern, unsigned host_concurrency);

}  // namespace w8y::core
