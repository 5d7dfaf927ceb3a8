// The config after parsing: typed, complete, with all defaults. Values and defaults are those of
// w8y.toml(5). The parser (src/core/config) guarantees the ranges in the comments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/copy_on_write.hpp"
#include "core/secret.hpp"
#include "core/source_settings.hpp"

namespace w8y {

enum class Mode : std::uint8_t { automatic, single, stream };
/// Source of the result of a command.
enum class ResultKind : std::uint8_t {
  none,    ///< nothing: standard output is log output
  output,  ///< its standard output, as text
  json,    ///< its standard output, which must be JSON
};
enum class OnLeaseLoss : std::uint8_t { keep_running, terminate };

struct Backoff {
  Duration min = std::chrono::seconds(1);
  Duration max = std::chrono::minutes(5);
  double factor = 2.0;  ///< >= 1
  bool operator==(const Backoff&) const = default;
};

/// Breaker of a list: opens when `percent` of the last `runs` runs of the fleet have failed.
struct BreakerSettings {
  std::uint16_t percent = 0;
  std::uint16_t runs = 0;  ///< 0 = no breaker
  /// Returns the number of failures that open it.
  [[nodiscard]] unsigned failures() const { return (percent * runs + 99U) / 100U; }
  bool operator==(const BreakerSettings&) const = default;
};

/// Limits of a history of a list.
struct HistoryLimits {
  std::uint32_t runs = 1000;         ///< number of run records; 0 = none
  std::uint32_t bytes = 16U << 20U;  ///< total size of these records
  Duration age{0};  ///< of a record of a failed run; 0 = not a history of failed runs
  static constexpr HistoryLimits none() { return {0, 0, Duration{0}}; }
  bool operator==(const HistoryLimits&) const = default;
};

/// One resource limit. The value is in the unit of setrlimit(2); nullopt = "unlimited".
struct ResourceLimit {
  std::string name;  ///< as in the config: "nofile", "as", "core", …
  int resource = 0;  ///< RLIMIT_…
  std::optional<std::uint64_t> value;
  bool operator==(const ResourceLimit&) const = default;
};

/// User and group of a child. Looked up at the start of each run, so that a changed account takes
/// effect.
struct RunAs {
  std::optional<std::string> user;   ///< name or number
  std::optional<std::string> group;  ///< name or number
  auto operator<=>(const RunAs&) const = default;
};

/// Settings of a list for its children, independent of the program.
struct ChildSettings {
  std::map<std::string, std::string> env;
  std::vector<std::string> env_pass;
  std::string env_file;   ///< empty = none
  std::string env_var;    ///< empty = none
  std::string cwd = "/";  ///< absolute, or "temp"
  RunAs run_as;
  std::optional<unsigned> umask;
  std::optional<int> nice;
  std::vector<ResourceLimit> rlimits;
  std::optional<std::uint64_t> memory_max;  ///< bytes, for all processes of a run together
  std::optional<unsigned> cpu_weight;       ///< from 1 to 10000
  bool no_new_privs = true;
  std::vector<int> success_exit_codes = {0};
  bool operator==(const ChildSettings&) const = default;
};

/// All settings of one list. A run keeps the ListConfigPtr with which it started.
struct ListConfig {
  std::string prefix;  ///< name, and key prefix unless `key_prefix` is set; may be empty
  SourceSettings source;

  CopyOnWrite<std::string> executor;  ///< absolute path; empty if `command` is used
  CopyOnWrite<std::vector<std::string>>
      command;  ///< program and arguments; empty if `executor` is used
  CopyOnWrite<std::vector<std::string>> args;
  CopyOnWrite<std::vector<std::string>> requires_caps;
  unsigned concurrency = 1;  ///< 0 = no runs on this host
  /// Share of the processors from which `concurrency` was computed: 2 = twice as many, -2 = half as
  /// many; 0 = the config has a number.
  std::int32_t concurrency_share = 0;
  std::int32_t processes_share = 0;  ///< the same for `processes`
  unsigned fleet_concurrency = 0;    ///< 0 = no limit
  unsigned weight = 1;               ///< >= 1
  unsigned max_failures = 0;         ///< 0 = never quarantined

  Duration key_expiry = std::chrono::seconds(5);  ///< >= 1 s
  Duration timeout{0};                            ///< 0 = none
  Duration progress_timeout{0};                   ///< 0 = none
  Duration kill_grace = std::chrono::seconds(10);
  std::optional<Backoff> backoff = Backoff{};  ///< nullopt = none

  CopyOnWrite<ChildSettings> child;

  std::uint32_t max_line = 1U << 20U;      ///< bytes
  std::uint32_t stderr_tail = 64U << 10U;  ///< bytes
  HistoryLimits history;
  /// History of runs that did not succeed. With 0 records, these runs are in `history`.
  HistoryLimits failed_history{.age = std::chrono::hours(24 * 7)};

  // For `stream` only.
  unsigned processes = 1;  ///< >= 1; they share `concurrency`; 0 = removed for the hash
  unsigned max_items = 0;  ///< of one process in total; 0 = no limit
  bool enabled = true;
  bool keep_output = false;  ///< also of runs that succeed
  /// Percent of the runs in an hour that may fail without a problem.
  std::uint8_t alert_failures = 10;
  Mode mode = Mode::automatic;
  ResultKind result = ResultKind::none;  ///< of a command
  OnLeaseLoss on_lease_loss = OnLeaseLoss::keep_running;

  /// False for the one-item wrapper `w8y`. Its runs write only the fencing token: no history, no
  /// events, no count of failures.
  bool keeps_records = true;
  /// False for `w8y`. Its user sees errors directly, so it exits with the error where w8yd would
  /// retry, and does no maintenance.
  bool supervised = true;
  std::uint32_t max_result = 1U << 20U;  ///< of a command, bytes, >= 1
  BreakerSettings breaker;
  Duration max_age{0};  ///< of a `stream` process; 0 = no limit

  [[nodiscard]] SourceKind kind() const { return source.kind(); }
  [[nodiscard]] const KindTraits& traits() const { return traits_of(kind()); }
  // For a list of that kind only.
  [[nodiscard]] const CircularSettings& circular() const { return source.circular(); }
  [[nodiscard]] CircularSettings& circular() { return source.circular(); }
  [[nodiscard]] const ScheduleSettings& schedule() const { return source.schedule(); }
  [[nodiscard]] ScheduleSettings& schedule() { return source.schedule(); }
  [[nodiscard]] const JobSettings& job() const { return source.job(); }
  [[nodiscard]] JobSettings& job() { return source.job(); }
  [[nodiscard]] const GearmanSettings& gearman() const { return source.gearman(); }
  [[nodiscard]] GearmanSettings& gearman() { return source.gearman(); }
  /// Longest wait of a free item before the list counts as overdue; 0 = not monitored.
  [[nodiscard]] Duration overdue_after() const;
  /// Returns `lock_key` of the config, the part of a lock's key between key prefix and item. Empty
  /// if the keys of its locks do not contain the item.
  [[nodiscard]] std::string lock_key() const;
  /// Returns the codes of its queues; empty if it has none.
  [[nodiscard]] std::vector<std::string> queues() const;
  /// Returns the function of its job server; empty if it has none.
  [[nodiscard]] std::string function() const;
  /// As SourceSettings::leases_as().
  [[nodiscard]] bool leases_as(const ListConfig& other) const {
    return source.leases_as(other.source);
  }

  [[nodiscard]] bool is_command() const { return !command->empty(); }
  /// Returns the executor, or the program of the command.
  [[nodiscard]] const std::string& program() const {
    return is_command() ? command->front() : *executor;
  }
  /// Returns the key prefix without a final ':'. That of a schedule may differ from its name.
  [[nodiscard]] const std::string& bare_key_prefix() const;
  /// Returns the part of a key before its name: "work:", or empty for the empty prefix.
  [[nodiscard]] std::string key_prefix() const {
    const std::string& bare = bare_key_prefix();
    return bare.empty() ? "" : bare + ":";
  }
  /// Returns whether a number was computed from the processors of this host.
  [[nodiscard]] bool depends_on_processors() const;
  /// Returns the end of the names of keys that lists with the same key prefix do not share:
  /// ":mails"; empty if the key prefix is the name.
  [[nodiscard]] std::string key_suffix() const {
    return kind() == SourceKind::schedule && &bare_key_prefix() != &prefix ? ":" + prefix : "";
  }
  /// Shares the memory of settings that are equal in both lists.
  void share(const ListConfig& other);
  bool operator==(const ListConfig&) const = default;
};
using ListConfigPtr = std::shared_ptr<const ListConfig>;

struct RedisSettings {
  Secret url = "redis://localhost:6379";  ///< may hold a password
  std::string password_file;
  std::string sentinel_password_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  Duration connect_timeout = std::chrono::seconds(5);
  Duration command_timeout = std::chrono::seconds(5);
  unsigned idle_commands = 100;  ///< per second, >= 1
  bool operator==(const RedisSettings&) const = default;
};

/// Address of a gearmand.
struct GearmanServer {
  static constexpr std::uint16_t usual_port = 4730;
  std::string host;
  std::uint16_t port = usual_port;
  /// Returns "host:4730" or "[::1]:4730".
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const GearmanServer&) const = default;
};

/// The gearmands from which lists of Gearman get their jobs.
struct GearmanServers {
  std::vector<GearmanServer> servers;  ///< without duplicates
  Duration connect_timeout = std::chrono::seconds(5);
  bool operator==(const GearmanServers&) const = default;
};

enum class LogLevel { trace, debug, info, warn, error };
enum class LogFormat { text, logfmt, json };

struct SupervisorSettings {
  std::string host;  ///< never empty
  std::string fleet = "w8y-fleet";
  std::vector<std::string> status;                ///< in the form of StatusAddress::text
  std::string status_token_file;                  ///< empty = no changes over TCP
  std::vector<std::string> status_allowed_hosts;  ///< additional host names of the TCP addresses
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::string log_file;  ///< empty = standard error
  Duration drain_timeout = std::chrono::seconds(30);
  Duration probe_timeout = std::chrono::seconds(5);
  Duration probe_interval = std::chrono::seconds(60);  ///< 0 = only at reload
  unsigned host_concurrency = 0;                       ///< 0 = no limit
  bool operator==(const SupervisorSettings&) const = default;
};

struct Config {
  RedisSettings redis;
  /// False if nothing of this config is in Redis: there is no [redis], and every list is of
  /// Gearman.
  bool has_redis = true;
  GearmanServers gearman;
  SupervisorSettings supervisor;
  std::map<std::string, ListConfigPtr> lists;  ///< by prefix
  std::vector<std::string> warnings;           ///< one line each, with file and line
  // [hosts] changes settings for single hosts. The hash covers the file, so that it is equal on all
  // hosts. Where this host has other values than the file, these members keep those of the file.
  std::map<std::string, ListConfigPtr> written_lists;  ///< by prefix
  std::optional<unsigned> written_host_concurrency;
  std::vector<std::uint64_t> host_hashes;  ///< hashes of all settings in [hosts], for every host
  /// Set by set_hashes(); empty if the hash is not needed.
  std::string hash;
  std::vector<std::uint64_t> list_hashes;  ///< in the order of `lists`
};
/// Shared by threads. Never modified.
using ConfigPtr = std::shared_ptr<const Config>;

/// Settings as text, by key of w8y.toml(5) ("concurrency" → "4"). The text is empty if a key is not
/// set. Values of `env` and passwords are "(hidden)", so the text may be logged and sent to an
/// operator. Two list configs with the same prefix are equal if and only if their settings and
/// secrets are equal.
using Settings = std::map<std::string, std::string>;
Settings describe(const ListConfig& rule);
Settings describe(const RedisSettings& redis);
Settings describe(const SupervisorSettings& supervisor);
/// Empty if there are no servers.
Settings describe(const GearmanServers& gearman);
/// Settings of `[redis]`; empty if the config does not have it.
Settings describe_redis(const Config& config);

/// Values that describe() hides, by key: "env.TOKEN", "url.password". Must not be shown.
using Secrets = std::map<std::string, std::string>;
Secrets secrets_of(const ListConfig& rule);
Secrets secrets_of(const RedisSettings& redis);
/// Returns a digest with which two programs compare a secret without showing it. `salt`: random,
/// used once.
std::string secret_digest(std::string_view salt, std::string_view secret);

/// A whole config as text: the sections, and the lists by prefix.
struct ConfigText {
  Settings redis;  ///< empty if the config has no [redis]
  Settings gearman;
  Settings supervisor;
  std::map<std::string, Settings> lists;
};
ConfigText describe(const Config& config);
/// Sets `config.hash`: 16 hex digits of a hash of the whole text, except `[supervisor] host` and
/// `status`, which differ between hosts. Two hosts have the same hash if and only if their files
/// have the same content. If `before` has the same ListConfigPtr for a list, its hash is reused.
void set_hashes(Config& config, const Config& before = {});

}  // namespace w8y
