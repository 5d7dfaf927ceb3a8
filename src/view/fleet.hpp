// Hosts that share a Redis: their heartbeats and list reports, and the resulting view of the fleet.
//
// All times are by the clock of Redis (w8y-keys(7)), so that a host with a wrong clock is shown
// correctly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/status.hpp"

namespace w8y {

/// Interval of heartbeats.
inline constexpr Duration heartbeat_interval = std::chrono::seconds(10);
/// Time after which the heartbeat and the list reports of a host expire.
inline constexpr Duration heartbeat_life = std::chrono::seconds(60);
/// Time for which a host that has died stays in the fleet, unless it returns or is forgotten.
inline constexpr Duration unresponsive_life = std::chrono::hours(24 * 7);
/// Maximum number of hosts that have died. The fleet removes the hosts that died first.
inline constexpr std::size_t max_unresponsive = 1000;
/// Time after which the next heartbeat of a host is overdue.
inline constexpr Duration late_after = heartbeat_interval + std::chrono::seconds(1);
/// Time after which a host is unresponsive: it has missed two heartbeats.
inline constexpr Duration unresponsive_after = std::chrono::seconds(25);
/// Time after which a new config must be applied on all hosts. A host without it is then outdated.
inline constexpr Duration outdated_after = std::chrono::seconds(60);
/// Maximum number of bytes of a heartbeat, and of a list report.
inline constexpr std::size_t max_heartbeat = 4096;
/// Format of the keys, lock values and messages of w8y that this build reads and writes.
inline constexpr unsigned fleet_format = 1;

struct HostHeartbeat {
  unsigned format = 0;  ///< fleet_format of the host; 0: its heartbeat has none
  std::string host;
  std::string id;  ///< new at each start; in the name of the key, not in the text
  int pid = 0;
  std::string version;
  std::string state;  ///< state_name(HostState)
  WallTime started{0};
  std::string config_hash;
  std::uint64_t generation = 0;  ///< 0: no config is in force yet
  WallTime applied{0};           ///< time at which the host applied that config
  WallTime reload_failed{0};     ///< time of the last reload, if it failed
  std::string reload_error;      ///< its error
  WallTime clock_offset{0};      ///< clock of the host minus clock of Redis
  unsigned processors = 0;       ///< processors that w8yd may use
  std::size_t slots_used = 0;
  std::size_t slots_limit = 0;  ///< 0: no limit
  /// Lowest lease margin recently, and since the start.
  std::optional<WallTime> lease_margin;
  std::optional<WallTime> min_lease_margin;
  std::uint64_t lists_version = 0;  ///< changes with each change of the list reports

  bool operator==(const HostHeartbeat&) const = default;
};

/// Returns one JSON object of at most max_heartbeat bytes, even if a name is long.
std::string to_text(const HostHeartbeat& heartbeat);
/// nullopt: the text is not the output of to_text(). Unknown members are ignored.
std::optional<HostHeartbeat> parse_heartbeat(std::string_view text);

// ---- list reports

/// Finds the list reports that have changed since they were sent.
class ListReportTracker {
 public:
  struct Change {
    std::string prefix;
    std::string text;  ///< empty: the list was removed
  };

  /// Start of an iteration over all lists, a call for each list, and end of the iteration.
  void begin() { ++iteration_; }
  void record(const ListStatus& list);
  void end();
  /// Returns the next list reports to send, at most `most`, and treats them as sent. Changes by
  /// starts and ends of runs are included only if `lively`.
  std::vector<Change> drain(std::size_t most, bool lively);
  /// Forgets all reports, so that all are sent again.
  void forget();
  /// Returns whether a change other than by runs was not sent yet.
  [[nodiscard]] bool urgent() const { return urgent_ > 0; }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }

 private:
  struct Report {
    std::size_t settled = 0;  ///< hash of the fields that do not change with each run
    std::size_t lively = 0;   ///< hash of the list report
    std::string due;          ///< text of the next list report; empty: none
    unsigned iteration = 0;
    bool known = false;
    bool urgent = false;
    bool gone = false;
  };
  void set_due(Report& list, std::string text, bool urgent);

  std::map<std::string, Report> lists_;  ///< by prefix
  unsigned iteration_ = 0;
  std::size_t urgent_ = 0;
  std::string next_;  ///< prefix at which the next drain() starts
};

// ---- time of the next heartbeat

/// Times of heartbeats: every heartbeat_interval, earlier after a change, never two at once, and
/// never while Redis is unavailable.
class HeartbeatTimer {
 public:
  void connected(Instant now) { connected_ = true, due_ = now; }
  void disconnected() { connected_ = out_ = false; }
  /// Makes the next heartbeat due within 0.5 s, because of a change.
  void on_request(Instant now);
  void started(Instant now);
  /// `refused`: Redis refuses the heartbeat. The next one follows soon, and later after each
  /// further refusal, because permissions may have changed.
  void on_reply(bool refused);
  /// nullopt: not before connected() or answered().
  [[nodiscard]] std::optional<Instant> due() const;
  [[nodiscard]] bool connected() const { return connected_; }

 private:
  bool connected_ = false;
  bool out_ = false;
  bool requested_ = false;
  unsigned refusals_ = 0;  ///< consecutive
  Instant started_{};
  Instant due_{};
};

/// Clock of Redis, derived from the clock of this host.
class RedisClock {
 public:
  /// Maximum round trip of a reply that replaces an earlier time. The time in a slower reply is
  /// uncertain.
  static constexpr Duration max_trip = std::chrono::seconds(1);

  /// Records the time that Redis reported between `asked` and `answered`.
  void record(WallTime time, Instant asked, Instant answered);
  void forget() { known_ = false; }
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] WallTime at(Instant when) const;
  /// Returns the earliest time that the clock of Redis may show.
  [[nodiscard]] WallTime earliest_at(Instant when) const { return at(when - error_); }

 private:
  bool known_ = false;
  WallTime time_{0};
  Instant when_{};
  Duration error_{0};  ///< half of the round trip
};

// ---- the fleet

struct FleetHost {
  HostHeartbeat heartbeat;  ///< if `error` is set: only the ID and the name in it
  WallTime last_heartbeat{0};
  std::string error;              ///< why its heartbeat cannot be read; empty: it can
  bool unresponsive = false;      ///< since last_heartbeat
  bool no_reply = false;          ///< did not reply to a query in time
  bool late = false;              ///< its next heartbeat is overdue
  bool expired = false;           ///< its heartbeat has expired: only ID, name and time are known
  bool config_outdated = false;   ///< another config was applied elsewhere, but not here
  bool duplicate_name = false;    ///< another live host has the same name
  std::vector<ListStatus> lists;  ///< by prefix, from the list reports
  std::string lists_error;        ///< why some or all of its lists cannot be read
  bool lists_truncated = false;   ///< the host has more lists than are shown

  /// Returns "running", …, "unresponsive" or "unknown".
  [[nodiscard]] const char* state() const;
};

struct FleetView {
  std::string fleet;
  WallTime now{0};
  std::string error;             ///< why the fleet cannot be read; empty: it can
  bool unreachable = false;      ///< Redis is unavailable, so that nothing is known
  std::vector<FleetHost> hosts;  ///< by name
  bool truncated = false;        ///< there are more hosts than are shown
  /// Config that outdated hosts do not have; empty: no host is outdated.
  std::string latest_config_hash;
};

/// Records that not all lists of the host are shown.
void truncate_lists(FleetHost& host);
/// Marks hosts that are unresponsive, outdated, or share their name with another host. Removes
/// hosts that have died if a host of their name has started later. Sorts the hosts.
void classify(FleetView& view);
/// Returns why `own` must claim nothing: a live host of the fleet uses another format and started
/// earlier, or at the same time with a smaller ID. Empty: there is none. nullptr: a client, which
/// must change nothing while any live host uses another format.
std::string format_conflict(const FleetView& view, const HostHeartbeat* own);
/// Returns the name in a host ID: all except its random part.
std::string name_in_host_id(std::string_view id);

}  // namespace w8y
