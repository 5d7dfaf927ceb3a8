// Config of the hosts of a world, drawn from its seed and changed by reloads.
#pragma once

#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "simulation/random.hpp"

namespace w8y::sim {

/// Kind of the items and runs of a list.
enum class Work {
  usual,
  quick,    ///< very short runs, with a cooldown that limits their number
  uneven,   ///< very short runs, and 1 % of long runs, which delay prefetched items
  crowded,  ///< fewer items than hosts, free again at once
  large,    ///< long items, many at once
  scarce,   ///< thousands of items, of which another program locks all but 1 to 3
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
  unsigned backoff = 500;   ///< ms, minimum
  unsigned max_failures = 0;
  std::string breaker{};  ///< empty = none
  unsigned timeout = 0;   ///< s
  unsigned kill_grace = 2;
  std::string on_failure = "die";  ///< of a schedule
  // Of Gearman lists only.
  std::string function{};
  std::vector<std::string> gearmands{};
};

/// Names of the lists of other kinds than circular.
inline constexpr const char* schedule_name = "plan";
/// Queues that hosts serve, by their codes.
inline constexpr const char* schedule_queues = "A:A:B";

inline constexpr const char* feed_name = "inbox";
inline constexpr unsigned feed_maintenance_s = 4;
inline constexpr unsigned feed_claim_timeout_s = 20;

inline constexpr const char* gearman_name = "mill";

/// Draws the settings of a Gearman list and the gearmands of its host (settings_gearman.cpp).
void draw_gearman(ListSettings& list, Random& random);
[[nodiscard]] std::string section_of_gearman(const ListSettings& list);

struct Settings {
  std::string server = "redis1";
  bool redis = true;  ///< false: hosts have no Redis and only Gearman lists
  unsigned idle_commands = 100;
  unsigned host_concurrency = 0;
  std::vector<ListSettings> lists;   ///< circular
  std::vector<ListSettings> others;  ///< of other kinds

  /// Returns whether the config has [redis]. It always has it if there is no Gearman list.
  [[nodiscard]] bool has_redis() const;
  [[nodiscard]] std::string config_of(const std::string& host) const;
};

[[nodiscard]] Settings draw_settings(Random& random, unsigned hosts, unsigned lists);
/// Draws a list of another kind than circular.
[[nodiscard]] ListSettings draw_other(Random& random, SourceKind kind);
/// Changes several settings, as an operator does before a reload.
void change(Settings& settings, Random& random);

}  // namespace w8y::sim
