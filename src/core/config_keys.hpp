// The keys of each table of the config, one row per key, and the reader that follows the rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_value.hpp"
#include "core/list_config.hpp"

namespace w8y::core {

/// How a list runs its items. A list with `mode = "auto"` uses the modes that its executor offers.
enum class Form : unsigned { command = 1, single = 2, stream = 4 };
constexpr unsigned operator|(Form a, Form b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}

/// Limits a key to some lists. In [defaults] the key applies to these lists only. In another list
/// it is an error.
template <class T>
struct OnlyFor {
  unsigned forms;
  void (*copy)(const T& from, T& into);
  const char* why_not_command;             ///< "is …"; nullptr = valid for commands
  const char* why_not_executor = nullptr;  ///< the same for the other mode of an executor
};

/// Set of all kinds of work.
constexpr unsigned all_kinds = (1U << source_kind_count) - 1;

/// Everything about one key. The parser, the text of a setting and the hash follow its row. The
/// schema, the sample and the manual are tested against it.
template <class T>
struct Key {
  const char* name;
  /// The default in TOML, as in the documentation; empty = none. The initializers of `T` set its
  /// value; a test compares both.
  const char* fallback;
  void (*read)(const ConfigValue& value, T& into);
  /// Returns the text for describe(), without secrets.
  std::string (*show)(const T& from);
  std::optional<OnlyFor<T>> only_for = std::nullopt;
  /// The kinds of work to which a key of lists applies, a set of KindTraits::bit(). In [defaults]
  /// it applies to lists of these kinds only. In a list of another kind it is an error. `read` and
  /// `show` get no list config of another kind.
  unsigned kinds = all_kinds;
};

/// A key that is not valid in a table, with the reason.
struct Refused {
  std::string_view name;
  const char* why;
};

extern const std::span<const Key<RedisSettings>> redis_keys;
extern const std::span<const Key<SupervisorSettings>> supervisor_keys;
/// `executor` and `command` are first. The other keys are valid in [defaults].
extern const std::span<const Key<ListConfig>> list_keys;
extern const std::span<const Refused> list_refused;
const std::vector<const Key<ListConfig>*>& list_keys_by_name();
constexpr std::size_t keys_of_lists_only = 2;
extern const std::span<const Key<Backoff>> backoff_keys;

/// Checks dependencies between keys: TLS files need a TLS URL, and a key needs its certificate.
void check_redis(const ConfigValue& section, const RedisSettings& redis);
bool is_cluster_url(std::string_view url);
/// Returns whether the prefix contains a hash tag as Redis Cluster defines it: a first pair of
/// braces that is not empty.
bool has_hash_tag(std::string_view prefix);

/// Unit of the value of a resource limit.
enum class LimitUnit { count, size, seconds, microseconds };
struct Limit {
  const char* name;
  int resource;
  LimitUnit unit;
};
extern const std::span<const Limit> limits;

/// Reports a key that is not in `known`, with the name or the section that was probably meant.
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
  const KindTraits* kind = default_kind;
};
void read_defaults(const ConfigValue& section, ListDefaults& into);
/// Reads all keys of one list and checks the dependencies between them.
void read_list(const ConfigValue& list, const ListDefaults& defaults, ListConfig& into);
/// Returns the modes in which a list may run its items, as a set of Form.
unsigned forms_of(const ListConfig& rule, bool is_command);
/// Checks the dependencies between the keys of one list.
void check_list(const ConfigValue& list, ListConfig& rule);

/// Maximum number of runs of one list at once.
inline constexpr std::int64_t max_runs = 100'000;
/// Reads a number, or a share of the processors that this host may use: "cpus", "cpus*2", "cpus/2".
/// A number must be at least `min_count`; a share gives at least 1. `share`: see
/// ListConfig::concurrency_share.
void read_count(const ConfigValue& value, unsigned min_count, unsigned& count, std::int32_t& share);
std::string show_count(unsigned count, std::int32_t share);
void read_backoff(const ConfigValue& value, ListConfig& rule);
void read_rlimits(const ConfigValue& value, ListConfig& rule);
void read_env(const ConfigValue& value, ListConfig& rule);
void read_env_pass(const ConfigValue& value, ListConfig& rule);
void read_umask(const ConfigValue& value, ListConfig& rule);
/// Reads the name or number of a `what`. Not checked against the accounts of this host.
void read_account(const ConfigValue& value, const std::string& what,
                  std::optional<std::string>& into);

/// Returns the part of the config hash for one key that differs on some hosts. `said` holds its
/// value.
std::uint64_t hash_override(std::string_view pattern, std::string_view key, const ListConfig& said);
std::uint64_t hash_override(std::string_view pattern, unsigned host_concurrency);

}  // namespace w8y::core
