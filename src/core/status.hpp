// Snapshot of a host's state, for the status API, the fleet view and sd_notify.
#pragma once

#include <array>
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
#include "core/open_breaker.hpp"
#include "core/pause.hpp"

namespace w8y {

enum class HostState {
  starting,  ///< until all probes have finished, Redis is connected and the heartbeats were read
  running,
  quiet,     ///< starts no new runs until it is resumed
  draining,  ///< finishes its runs, then exits
};

/// Why a list runs or does not run. If several states apply, the last one in this order is used.
enum class ListState {
  running,       ///< at least one run
  idle,          ///< no items, or no free item
  full,          ///< items may be free, but `host_concurrency` or `fleet_concurrency` is reached
  unavailable,   ///< Redis or every gearmand is unavailable, or hosts with another format hold the
                 ///< list
  starved,       ///< this host is short of processes, descriptors, memory or disk
  breaker_open,  ///< too many of the last runs of all hosts failed; the fleet claims only
                 ///< probes
  paused,        ///< by an operator, on all hosts
  quiet,         ///< this host starts no new runs
  probing,       ///< the probe of its executor has not finished yet
  ineligible,    ///< this host cannot serve it
  disabled,      ///< `enabled = false` or `concurrency = 0`
  draining,      ///< removed from the config, or the host drains; its runs continue
};

/// In the order of ListState.
inline constexpr std::array all_list_states = {
    ListState::running, ListState::idle,         ListState::full,     ListState::unavailable,
    ListState::starved, ListState::breaker_open, ListState::paused,   ListState::quiet,
    ListState::probing, ListState::ineligible,   ListState::disabled, ListState::draining};

struct RunStatus {
  enum class State {
    running,
    stopping,
    settling,  ///< it has ended, and Redis has not confirmed its settlement
  };

  RunId run;
  DisplayItem item;
  int pid = 0;  ///< 0 until it has started
  WallTime started{0};
  unsigned attempt = 1;
  std::optional<std::uint64_t> fence;  ///< only for kinds of work that have one
  std::optional<Progress> progress;
  State state = State::running;
  bool lease_lost = false;  ///< the run continues: `on_lease_loss = "continue"`
};

/// Last known cycle time of a list in one quarter of an hour.
struct CycleAt {
  std::int64_t quarter_hour = 0;  ///< since 1970, by the clock of Redis
  WallTime cycle{0};
  bool operator==(const CycleAt&) const = default;
};

/// Statistics of a list: its items and cycle time, as a host of the fleet has read them from Redis.
struct ListStats {
  struct Count {
    std::string state;  ///< "free", "delayed", …; "length" for a circular list
    std::uint64_t items = 0;
    bool operator==(const Count&) const = default;
  };
  std::vector<Count> items;
  bool estimated = false;         ///< in a long list: all but its length and quarantined items
  std::optional<WallTime> cycle;  ///< median time between two runs of an item
  std::optional<WallTime> longest_wait;       ///< longest time since an item became free
  std::optional<std::uint64_t> slots;         ///< of all hosts that serve the list
  std::optional<std::uint64_t> slots_needed;  ///< to stay within its overdue_after
  std::vector<CycleAt> cycles;                ///< of the last hours, the oldest first
  WallTime at{0};                             ///< time of the query, by the clock of Redis
  bool operator==(const ListStats&) const = default;
};

struct ListStatus {
  std::string prefix;
  ListState state = ListState::probing;
  std::string why;  ///< one line for people; may be empty

  std::string program;  ///< path of the executor, or the command line
  std::string probed;   ///< path of the program that was probed on this host
  bool enabled = true;
  std::vector<std::string> caps;
  std::string executor_version;  ///< from `--caps`; may be empty

  std::size_t running = 0;
  unsigned concurrency = 1;
  unsigned fleet_concurrency = 0;  ///< 0 = no limit
  unsigned weight = 1;
  std::optional<std::string> key_prefix;  ///< for a schedule
  std::vector<std::string> queues;        ///< for a schedule: codes
  std::string function;                   ///< for Gearman; empty = another kind of work
  std::optional<Duration> poll_within;    ///< if serving: maximum time between polls while idle

  // Data that only Redis has. Set if Redis was queried and has replied.
  std::optional<std::uint64_t> quarantined;  ///< items
  std::optional<Pause> pause;                ///< set even if an item runs
  std::optional<OpenBreaker> breaker;        ///< nullopt = closed
  std::optional<ListStats> stats;
  Duration overdue_after{0};  ///< 0 = not monitored

  std::string unwritten;  ///< the part of settlements that Redis refuses; empty = nothing
  RunCounters counters;
  /// Runs of this host in the last hour, how many of these failed, and the percentage of failures
  /// from which the list is a problem.
  std::uint64_t recent_runs = 0;
  std::uint64_t recent_failed = 0;
  unsigned alert_failures = 10;
  std::string last_error;  ///< of the last run that did not succeed; may be empty
  WallTime last_error_at{0};
  std::vector<RunStatus> runs;      ///< active runs
  std::vector<RunStatus> settling;  ///< runs with a pending settlement
};

struct RedisStatus {
  std::string url;  ///< without user and password
  bool connected = false;
  std::string error;  ///< why it is not connected; empty while connected
  std::optional<WallTime> away_since;
  std::uint64_t commands_sent = 0;
  Duration clock_jump{0};  ///< last jump of the clock of Redis; negative = it was set back
  std::optional<WallTime> clock_jumped_at;
  std::size_t leases = 0;  ///< number of leases that this host renews
  /// Minimum time left of a lease when its renewal was confirmed, within the last one to two
  /// minutes and since the start. Below zero, another host may have claimed the item.
  std::optional<Duration> lease_margin;
  std::optional<Duration> min_lease_margin;
};

/// State of a gearmand for all lists of this host together.
struct GearmanStatus {
  std::string server;
  std::size_t lists = 0;      ///< number of lists that get jobs from it
  std::size_t connected = 0;  ///< number of lists connected to it, each by its own connection
  std::string error;          ///< why a list is not connected; empty if all are
  std::optional<WallTime> away_since;
  std::size_t jobs = 0;  ///< number of its jobs that this host has claimed
};

struct HostStatus {
  std::string host;
  std::string host_id;  ///< new at each start, because a host name can be reused
  int pid = 0;
  std::string version;

  HostState state = HostState::starting;
  WallTime started{0};
  WallTime now{0};

  std::string config_hash;
  std::uint64_t generation = 0;  ///< number of configs applied since the start
  std::string last_reload;       ///< result on one line; empty = no reload yet
  WallTime last_reload_at{0};
  bool last_reload_failed = false;

  bool has_redis = true;  ///< false = the config has no [redis] and needs none
  /// Why this host claims nothing: a running host of the fleet uses another format. Empty if none
  /// does.
  std::string format_conflict;
  RedisStatus redis;
  std::vector<GearmanStatus> gearman;
  std::size_t slots_limit = 0;  ///< `host_concurrency`; 0 = no limit
  std::size_t slots_used = 0;
};

/// Returns why the list is overdue: "a cycle takes 12m, and overdue_after is 10m; …". Empty if it
/// is not overdue or no statistics are available.
std::string why_slow(const ListStatus& list);

/// Return "starting", "running", …, as in the API and w8yctl.
const char* state_name(HostState state);
const char* state_name(ListState state);
const char* state_name(RunStatus::State state);
/// Return nullopt if no state has that name.
std::optional<HostState> host_state(std::string_view name);
std::optional<ListState> list_state(std::string_view name);

}  // namespace w8y
