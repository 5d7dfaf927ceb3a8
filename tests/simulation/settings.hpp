// A config file for the hosts of a world, drawn from its seed, and changed by reloads.
#pragma once

#include <string>
#include <vector>

#include "simulation/random.hpp"

namespace w8y::sim {

/// What its items are like.
enum class Work {
  usual,
  quick,    ///< very short runs: they rest for a while, or nothing else is done
  uneven,   ///< such runs, and a long one now and then, which holds up what is claimed ahead
  crowded,  ///< fewer items than hosts, free again at once
  large,    ///< long items, many at once
};

struct ListSettings {
  std::string name;
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
};

struct Settings {
  std::string server = "redis1";
  unsigned idle_commands = 100;
  unsigned max_processes = 0;
  std::vector<ListSettings> lists;

  [[nodiscard]] std::string config_of(const std::string& host) const;
};

[[nodiscard]] Settings draw_settings(Random& random, unsigned hosts, unsigned lists);
/// What an operator changes in it: a few settings of a list.
void change(Settings& settings, Random& random);

}  // namespace w8y::sim
