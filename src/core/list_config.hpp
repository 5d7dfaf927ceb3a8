// The configuration after parsing: typed, complete, every default filled in. Shapes and defaults
// are those of w8y.toml(5); the parser (src/core/config) guarantees the ranges noted here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/copy_on_write.hpp"
#include "core/secret.hpp"
#include "core/source_settings.hpp"

namespace w8y {

enum class Mode { automatic, single, stream };
enum class OnLeaseLoss { keep_running, terminate };

struct Backoff {
  Duration min = std::chrono::seconds(1);
  Duration max = std::chrono::minutes(5);
  double factor = 2.0;  ///< >= 1
  bool operator==(const Backoff&) const = default;
};

/// How much of a list's history is kept.
struct HistoryLimits {
  std::size_t runs = 1000;                    ///< run records; 0: none
  std::size_t bytes = std::size_t{16} << 20;  ///< of these records
  static constexpr HistoryLimits none() { return {0, 0}; }
  bool operator==(const HistoryLimits&) const = default;
};

/// One resource limit: the number is in the unit of setrlimit(2), nullopt is "unlimited".
struct ResourceLimit {
  std::string name;  ///< as in the config: "nofile", "as", "core", …
  int resource = 0;  ///< RLIMIT_…
  std::optional<std::uint64_t> value;
  bool operator==(const ResourceLimit&) const = default;
};

/// Who a child runs as, resolved at start of each run so that a changed account takes effect.
struct RunAs {
  std::optional<std::string> user;   ///< name or number
  std::optional<std::string> group;  ///< name or number
  auto operator<=>(const RunAs&) const = default;
};

/// What a list says of its children, whichever program they run.
struct ChildSettings {
  std::map<std::string, std::string> env;
  std::vector<std::string> env_pass;
  std::string env_file;   ///< empty: none
  std::string env_var;    ///< empty: none
  std::string cwd = "/";  ///< absolute, or "temp"
  RunAs run_as;
  std::optional<unsigned> umask;
  std::optional<int> nice;
  std::vector<ResourceLimit> rlimits;
  std::optional<std::uint64_t> memory_max;  ///< bytes, of all processes of a run together
  std::optional<unsigned> cpu_weight;       ///< 1 to 10000
  bool no_new_privs = true;
  std::vector<int> success_exit_codes = {0};
  bool operator==(const ChildSettings&) const = default;
};

/// All settings of one list. A run keeps the rule it began with (`shared_ptr<const Rule>`).
struct ListConfig {
  std::string prefix;  ///< without its final ':'; may be empty
  SourceSettings source;

  CopyOnWrite<std::string> executor;  ///< absolute path; empty if `command` is used
  CopyOnWrite<std::vector<std::string>>
      command;  ///< program and arguments; empty if `executor` is used
  CopyOnWrite<std::vector<std::string>> args;
  CopyOnWrite<std::vector<std::string>> requires_caps;
  Mode mode = Mode::automatic;

  CopyOnWrite<std::string>
      concurrency_by;              ///< "cpus*2", from which the next was made; empty: a number
  unsigned concurrency = 1;        ///< 0: stopped on this host
  unsigned fleet_concurrency = 0;  ///< 0: no limit
  unsigned weight = 1;             ///< >= 1

  OnLeaseLoss on_lease_loss = OnLeaseLoss::keep_running;
  Duration key_expiry = std::chrono::seconds(5);  ///< >= 1 s
  Duration timeout{0};                            ///< 0: none
  Duration progress_timeout{0};                   ///< 0: none
  Duration kill_grace = std::chrono::seconds(10);
  std::optional<Backoff> backoff = Backoff{};  ///< nullopt: off

  CopyOnWrite<ChildSettings> child;

  std::size_t max_line = std::size_t{1} << 20;
  std::size_t stderr_tail = std::size_t{64} << 10;
  HistoryLimits history;
  unsigned max_failures = 0;  ///< 0: never quarantined

  // For `stream` only.
  unsigned processes = 1;  ///< >= 1: that share `concurrency`
  unsigned max_items = 0;  ///< of a process, in its life; 0: no limit
  bool enabled = true;
  bool keep_output = false;  ///< the tail of runs that succeed, too

  /// False for the one-item wrapper `w8y`, whose runs leave nothing behind but the fence: no
  /// history, no events, no count of failures.
  bool keeps_records = true;
  /// False for `w8y` too: its user sees at once what is wrong, so it ends with the reason where a
  /// supervisor waits for better times, and looks after nothing besides its item.
  bool supervised = true;
  Duration max_age{0};  ///< of a process of a `stream`; 0: no limit

  [[nodiscard]] SourceKind kind() const { return source.kind(); }
  // Of a list of that kind.
  [[nodiscard]] const CircularSettings& circular() const { return source.circular(); }
  [[nodiscard]] CircularSettings& circular() { return source.circular(); }
  [[nodiscard]] const ScheduleSettings& schedule() const { return source.schedule(); }
  [[nodiscard]] ScheduleSettings& schedule() { return source.schedule(); }
  [[nodiscard]] const JobSettings& job() const { return source.job(); }
  [[nodiscard]] JobSettings& job() { return source.job(); }
  [[nodiscard]] const GearmanSettings& gearman() const { return source.gearman(); }
  [[nodiscard]] GearmanSettings& gearman() { return source.gearman(); }
  /// See SourceSettings.
  [[nodiscard]] bool leases_as(const ListConfig& other) const {
    return source.leases_as(other.source);
  }

  [[nodiscard]] bool is_command() const { return !command->empty(); }
  /// The prefix as it stands before every key: "work:", or nothing for the empty prefix.
  [[nodiscard]] std::string key_prefix() const { return prefix.empty() ? "" : prefix + ":"; }
  /// What both say alike is in memory once.
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

/// A gearmand.
struct GearmanServer {
  static constexpr std::uint16_t usual_port = 4730;
  std::string host;
  std::uint16_t port = usual_port;
  /// "host:4730", "[::1]:4730"
  [[nodiscard]] std::string to_string() const;
  auto operator<=>(const GearmanServer&) const = default;
};

/// Where lists of Gearman have their jobs from.
struct GearmanServers {
  std::vector<GearmanServer> servers;  ///< each once
  Duration connect_timeout = std::chrono::seconds(5);
  bool operator==(const GearmanServers&) const = default;
};

enum class LogLevel { trace, debug, info, warn, error };
enum class LogFormat { text, logfmt, json };

struct SupervisorSettings {
  std::string host;  ///< never empty
  std::string fleet = "w8y-fleet";
  std::vector<std::string> status;                ///< StatusAddress's texts
  std::string status_token_file;                  ///< empty: TCP is read-only
  std::vector<std::string> status_allowed_hosts;  ///< more names of the TCP addresses
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  std::string log_file;  ///< empty: standard error
  Duration drain_timeout = std::chrono::seconds(30);
  Duration probe_timeout = std::chrono::seconds(5);
  Duration probe_interval = std::chrono::seconds(60);  ///< 0: only at reload
  unsigned host_concurrency = 0;                       ///< 0: no limit
  bool operator==(const SupervisorSettings&) const = default;
};

struct Config {
  RedisSettings redis;
  /// False: nothing of this config is in Redis. There is no [redis], and every list is of Gearman.
  bool has_redis = true;
  GearmanServers gearman;
  SupervisorSettings supervisor;
  std::map<std::string, ListConfigPtr> lists;  ///< by prefix
  std::vector<std::string> warnings;           ///< one line each, with file and line
  // [hosts] is different on each host, and the hash is that of the file: so here is what counts for
  // it, where that is not what counts on this host.
  std::map<std::string, ListConfigPtr> written_lists;  ///< by prefix
  std::optional<unsigned> written_host_concurrency;
  std::vector<std::uint64_t> host_hashes;  ///< all that [hosts] says, for any host
  /// Made by set_hashes(); empty: nobody asks for it.
  std::string hash;
  std::vector<std::uint64_t> list_hashes;  ///< in the order of `lists`
};
/// Shared by threads, and never changed.
using ConfigPtr = std::shared_ptr<const Config>;

/// The settings as text, key by key in w8y.toml(5)'s terms ("concurrency" → "4"); what is not set
/// is the empty text. `env` values and passwords are "(hidden)", so the text may be logged and sent
/// to an operator. Two rules of one prefix are the same if and only if these and their secrets are.
using Settings = std::map<std::string, std::string>;
Settings describe(const ListConfig& rule);
Settings describe(const RedisSettings& redis);
Settings describe(const SupervisorSettings& supervisor);
/// Empty without servers.
Settings describe(const GearmanServers& gearman);
/// Of `[redis]`; empty, if it has none.
Settings describe_redis(const Config& config);

/// What describe() hides, by key: "env.TOKEN", "url.password". Never to be shown.
using Secrets = std::map<std::string, std::string>;
Secrets secrets_of(const ListConfig& rule);
Secrets secrets_of(const RedisSettings& redis);
/// Two sides compare digests to see whether they have the same secret, without showing it. `salt`:
/// random, used once.
std::string secret_digest(std::string_view salt, std::string_view secret);

/// A whole config as text: the sections, and the lists by prefix.
struct ConfigText {
  Settings redis;  ///< empty: it has none
  Settings gearman;
  Settings supervisor;
  std::map<std::string, Settings> lists;
};
ConfigText describe(const Config& config);
/// Sets `config.hash`: 16 hex digits over the whole text but `[supervisor] host` and `status`,
/// which are each host's own. It is equal on two hosts exactly if their files say the same. A list
/// whose very rule is in `before` takes its hash from there.
void set_hashes(Config& config, const Config& before = {});

}  // namespace w8y
