// Where things are: the config, the w8yd of this host, Redis. Each is looked for when a command
// first needs it; `w8yctl --help` says in which order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ctl/host_api.hpp"
#include "app/ctl/options.hpp"
#include "core/rule.hpp"
#include "loop/loop.hpp"
#include "redis/sync.hpp"
#include "store/circular/keys.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::app::ctl {

struct KnownList {
  SourceKind kind = SourceKind::circular;
  std::string lock_key;                              ///< of a circular list
  std::vector<std::string> queues;                   ///< of a schedule, where that is known
  store::thoonk::MaintenanceTerms maintenance = {};  ///< of jobs
};
using KnownLists = std::map<std::string, KnownList>;  ///< by prefix

/// All throw Failure, but for try_ask().
class Context {
 public:
  explicit Context(const Options& options) : options_(options) {}
  /// On another clock than the system's.
  Context(const Options& options, const Clock& clock) : options_(options), loop_(clock) {}

  // The w8yd of this host.
  HostApi& host();
  /// nullopt: nobody answers, or nobody says where.
  [[nodiscard]] std::optional<view::JsonFields> try_ask(const std::string& path);

  // Redis.
  redis::SyncClient& redis();
  redis::ClientOptions redis_options();
  loop::Loop& loop() { return loop_; }
  /// The name of the fleet: as it was given, else as in the config.
  [[nodiscard]] std::string fleet();

  /// The lists that are known here; nullopt: nobody says.
  const std::optional<KnownLists>& lists();
  /// The list of that name, which may be known to Redis only; else all known lists that the pattern
  /// fits. Not none: its name is a slip, most likely.
  std::vector<std::string> lists_of(const std::string& name_or_pattern);
  /// The same; nullopt: all that are known.
  std::vector<std::string> lists_of(const std::optional<std::string>& name_or_pattern);
  /// Of a list that may be unknown here: one that only `w8y` works on.
  store::CircularKeys keys(const std::string& prefix);
  /// The same, for what is done with items. Not of a list of another kind of work: that has
  /// commands of its own.
  store::CircularKeys circular_keys(const std::string& prefix);
  [[nodiscard]] SourceKind kind_of(const std::string& prefix);
  /// The same; of a list that is not known here by the keys that it has.
  [[nodiscard]] SourceKind kind_found(const std::string& prefix);
  /// Throws Failure for a list of Gearman, whose jobs are not in Redis.
  void refuse_gearman(const std::string& prefix);

 private:
  const Config* config();
  std::string find_socket();
  redis::ClientOptions find_redis();
  std::optional<std::string> embedded_redis(const redis::Url& configured);
  std::optional<KnownLists> find_lists();
  bool is_in_redis(const std::string& prefix);
  bool is_schedule_in_redis(const std::string& prefix);
  bool has_jobs_in_redis(const std::string& prefix);

  const Options& options_;
  loop::Loop loop_;
  bool config_looked_for_ = false;
  std::optional<Config> config_;
  std::unique_ptr<HostApi> host_;
  std::optional<redis::ClientOptions> redis_options_;
  std::unique_ptr<redis::SyncClient> redis_;
  bool lists_looked_for_ = false;
  std::optional<KnownLists> lists_;
};

}  // namespace w8y::app::ctl
