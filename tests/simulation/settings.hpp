// A config file for the hosts of a world, drawn from its seed, and changed by reloads.
#pragma once

#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "simulation/random.hpp"

namespace w8y::sim {

/// What its items are like.
enum class Work {
  usual,
  quick,    ///< very short runs: they rest for a while, or nothing else is done
  uneven,   ///< such runs, and a long one now and then, which holds up what is claimed ahead
  crowded,  ///< fewer items than hosts, free again at once
  large,    ///< long items, many at once
  scarce,   ///< thousands of items, of which others hold all but a few for long
};

struct ListSettings {
  std::string name;
  SourceKind kind = SourceKind::circular;
  Work work = Work::usual;
  std::string lock_key = "lock";
  unsigned concurrency = 2;
  unsigned fleet_concurrency = 0;
  unsigned key_expiry = 5;  ///< s
  bool terminates = false;  ///< on_lease_loss
  unsigned cooldown = 0;    ///< ms
  unsigned backoff = 500;   ///< ms, the first
  unsigned max_failures = 0;
  unsigned timeout = 0;  ///< s
  unsigned kill_grace = 2;
  std::string on_failure = "die";  ///< of a schedule
  // of Gearman
  std::string function{};
  std::vector<std::string> gearmands{};
};

/// Names of what some worlds have besides circular lists.
inline constexpr const char* schedule_name = "plan";
/// The queues that hosts serve, by their codes.
inline constexpr const char* schedule_queues = "A:A:B";

inline constexpr const char* feed_name = "inbox";
inline constexpr unsigned feed_maintenance_s = 4;
inline constexpr unsigned feed_claim_timeout_s = 20;

inline constexpr const char* gearman_name = "mill";

/// Of a list of Gearman, and the servers that its host has (settings_gearman.cpp).
void draw_gearman(ListSettings& list, Random& random);
[[nodiscard]] std::string section_of_gearman(const ListSettings& list);

struct Settings {
  std::string server = "redis1";
  bool redis = true;  ///< false: none is wanted, and only lists of Gearman can be had
  unsigned idle_commands = 100;
  unsigned host_concurrency = 0;
  std::vector<ListSettings> lists;   ///< circular ones
  std::vector<ListSettings> others;  ///< of other kinds

  /// Lists that need a Redis, or [redis] itself, are in the config.
  [[nodiscard]] bool has_redis() const;
  [[nodiscard]] std::string config_of(const std::string& host) const;
};

[[nodiscard]] Settings draw_settings(Random& random, unsigned hosts, unsigned lists);
/// A list of another kind than circular.
[[nodiscard]] ListSettings draw_other(Random& random, SourceKind kind);
/// What an operator changes in it: a few settings of a list.
void change(Settings& settings, Random& random);

}  // namespace w8y::sim
