// What a host is doing, as a snapshot: what the status API, the fleet view and sd_notify show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/counters.hpp"
#include "core/item.hpp"
#include "core/message.hpp"
#include "core/pause.hpp"

namespace w8y {

enum class HostState {
  starting,  ///< until every probe has finished, Redis was connected and the heartbeats were read
  running,
  quiet,     ///< told to begin no new runs until it is told otherwise
  draining,  ///< on its way out
};

/// Why a list runs or doesn't. Where several apply, the one furthest down counts.
enum class ListState {
  running,      ///< at least one run
  idle,         ///< nothing to do: no items, or none that is free
  full,         ///< items may be free, but `host_concurrency` or `fleet_concurrency` is reached
  unavailable,  ///< Redis or each gearmand is, or another format in the fleet holds the list
  starved,      ///< this host is short of processes, descriptors, memory or disk
  paused,       ///< by an operator, on all hosts
  quiet,        ///< this host begins no new runs
  probing,      ///< its executor has not answered yet
  ineligible,   ///< this host's executor can't serve it
  disabled,     ///< `enabled = false` or `concurrency = 0`
  draining,     ///< gone from the config, or the host is on its way out; runs go on
};

struct RunStatus {
  enum class State { running, stopping };

  RunId run;
  DisplayItem item;
  int pid = 0;  ///< 0: not started yet
  WallTime started{0};
  unsigned attempt = 1;
  std::optional<std::uint64_t> fence;  ///< where the kind of work has one
  std::optional<Progress> progress;
  State state = State::running;
  bool lease_lost = false;  ///< goes on all the same: `on_lease_loss = "continue"`
};

/// How long a lap of a list took, as it was last known in a quarter of an hour.
struct CycleAt {
  std::int64_t quarter_hour = 0;  ///< since 1970, by Redis's clock
  WallTime cycle{0};
  bool operator==(const CycleAt&) const = default;
};

/// What a list holds and how fast its items come round, as a host of the fleet has asked Redis.
struct ListStats {
  struct Count {
    std::string state;  ///< "free", "delayed", …; "length" of a circular list
    std::uint64_t items = 0;
    bool operator==(const Count&) const = default;
  };
  std::vector<Count> items;
  bool estimated = false;         ///< of a long list, all but its length and what is quarantined
  std::optional<WallTime> cycle;  ///< median time from one visit of an item to the next
  std::optional<WallTime> longest_wait;  ///< the longest that an item has waited since it was free
  std::optional<std::uint64_t> slots;    ///< of all hosts that serve it
  std::optional<std::uint64_t> slots_needed;  ///< for its overdue_after
  std::vector<CycleAt> cycles;                ///< of the last hours, the oldest first
  WallTime at{0};                             ///< when Redis was asked, by its clock
  bool operator==(const ListStats&) const = default;
};

struct ListStatus {
  std::string prefix;
  ListState state = ListState::probing;
  std::string why;  ///< one line for people; may be empty

  std::string program;  ///< the executor's path, or the command line
  std::string probed;   ///< of it, what was looked for on this host
  bool enabled = true;
  std::vector<std::string> caps;
  std::string executor_version;  ///< as `--caps` told it; may be empty

  std::size_t running = 0;
  unsigned concurrency = 1;
  unsigned fleet_concurrency = 0;  ///< 0: no limit
  unsigned weight = 1;
  std::vector<std::string> queues;      ///< of a schedule: codes
  std::string function;                 ///< of Gearman; empty: another kind of work
  std::optional<Duration> poll_within;  ///< serving: how soon a list at rest is looked at again

  // What only Redis knows, if it was asked and has answered.
  std::optional<std::uint64_t> quarantined;  ///< items
  std::optional<Pause> pause;                ///< also while something runs
  std::optional<ListStats> stats;
  Duration overdue_after{0};  ///< 0: not watched

  std::string unwritten;  ///< what Redis refuses of what is written of runs; empty: nothing
  RunCounters counters;
  std::string last_error;  ///< of the last run that did not succeed; may be empty
  WallTime last_error_at{0};
  std::vector<RunStatus> runs;  ///< those that are going on
};

struct RedisStatus {
  std::string url;  ///< without user and password
  bool connected = false;
  std::string error;  ///< why not; empty when all is well
  std::optional<WallTime> away_since;
  std::uint64_t commands_sent = 0;
  Duration clock_jump{0};  ///< last jump of the clock of Redis; negative: it was set back
  std::optional<WallTime> clock_jumped_at;
  std::size_t leases = 0;  ///< that this host renews
  /// The least time that was left of a lease when its renewal was confirmed, in the last minute or
  /// two, and since the start. Below zero, somebody else could have had the item.
  std::optional<Duration> lease_margin;
  std::optional<Duration> min_lease_margin;
};

/// A gearmand, as all lists of this host together see it.
struct GearmanStatus {
  std::string server;
  std::size_t lists = 0;      ///< that take jobs from it
  std::size_t connected = 0;  ///< of them: each has a connection of its own
  std::string error;          ///< why one has none; empty when all is well
  std::optional<WallTime> away_since;
  std::size_t jobs = 0;  ///< of it that this host has
};

struct HostStatus {
  std::string host;
  std::string host_id;  ///< new at each start; a name may be used again
  int pid = 0;
  std::string version;

  HostState state = HostState::starting;
  WallTime started{0};
  WallTime now{0};

  std::string config_hash;
  std::uint64_t generation = 0;  ///< of configs applied since the start
  std::string last_reload;       ///< one line: what came of it; empty: there was none
  WallTime last_reload_at{0};
  bool last_reload_failed = false;

  bool has_redis = true;  ///< false: the config has no [redis], and needs none
  /// Why this host claims nothing: a running host of the fleet uses another format. Empty: none.
  std::string format_conflict;
  RedisStatus redis;
  std::vector<GearmanStatus> gearman;
  std::size_t slots_limit = 0;  ///< `host_concurrency`; 0: no limit
  std::size_t slots_used = 0;
};

/// Why its items come round too late: "a cycle takes 12m, and overdue_after is 10m; …"; empty: they
/// don't, or nothing is known.
std::string why_slow(const ListStatus& list);

/// "starting", "running", …: as the API and w8yctl show them.
const char* state_name(HostState state);
const char* state_name(ListState state);
const char* state_name(RunStatus::State state);
/// nullopt: no state has that name.
std::optional<HostState> host_state(std::string_view name);
std::optional<ListState> list_state(std::string_view name);

}  // namespace w8y
