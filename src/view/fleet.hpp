// All hosts that share a Redis: what each tells of itself, and what that comes to.
//
// All times are Redis's (w8y-keys(7)): a host whose own clock is wrong shows as any other.
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

/// A host tells that it is there so often.
inline constexpr Duration heartbeat_interval = std::chrono::seconds(10);
/// Whoever has not for so long is gone.
inline constexpr Duration heartbeat_life = std::chrono::seconds(60);
/// Whoever has missed two beats is silent.
inline constexpr Duration unresponsive_after = std::chrono::seconds(25);
/// Another config may be everywhere after so long; who has not taken it then is behind.
inline constexpr Duration outdated_after = std::chrono::seconds(60);
/// Bytes: of a beat, and of what is told of a list.
inline constexpr std::size_t max_heartbeat = 4096;
/// Format of the keys, lock values and messages of w8y that this build reads and writes.
inline constexpr unsigned fleet_format = 1;

struct HostHeartbeat {
  unsigned format = 0;  ///< fleet_format of the host; 0: its heartbeat has none
  std::string host;
  std::string id;  ///< new at each start; not in the text, whose key has it
  int pid = 0;
  std::string version;
  std::string state;  ///< state_name(HostState)
  WallTime started{0};
  std::string config_hash;
  std::uint64_t generation = 0;  ///< 0: no config is in force yet
  WallTime applied{0};           ///< since when the host has that hash
  unsigned processors = 0;       ///< that w8yd may use
  std::size_t slots_used = 0;
  std::size_t slots_limit = 0;  ///< 0: no limit
  /// Of late, and since the start.
  std::optional<WallTime> lease_margin;
  std::optional<WallTime> min_lease_margin;
  std::uint64_t lists_version = 0;  ///< another one: what is told of lists has changed

  bool operator==(const HostHeartbeat&) const = default;
};

/// One JSON object of at most max_heartbeat bytes, however long a name is.
std::string to_text(const HostHeartbeat& heartbeat);
/// nullopt: not what to_text() writes. Unknown members are none of our business.
std::optional<HostHeartbeat> parse_heartbeat(std::string_view text);

// ---- what is told of lists: only what has changed

/// Remembers what was told of each list.
class ListReportTracker {
 public:
  struct Change {
    std::string prefix;
    std::string text;  ///< empty: it is gone
  };

  /// A look at all lists begins; then each of them; then it is over.
  void begin() { ++look_; }
  void note(const ListStatus& list);
  void end();
  /// What is to be told now, `most` at a time. That runs began and ended is told too where
  /// `lively`. All of it counts as told.
  std::vector<Change> take(std::size_t most, bool lively);
  /// All is to be told again.
  void forget();
  /// Something besides runs has changed.
  [[nodiscard]] bool urgent() const { return urgent_ > 0; }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }

 private:
  struct Report {
    std::size_t settled = 0;  ///< hash of what changes now and then
    std::size_t lively = 0;   ///< of what each run changes
    std::string due;          ///< text of the next list report; empty: none
    unsigned look = 0;
    bool known = false;
    bool urgent = false;
    bool gone = false;
  };
  void set_due(Report& list, std::string text, bool urgent);

  std::map<std::string, Report> lists_;  ///< by prefix
  unsigned look_ = 0;
  std::size_t urgent_ = 0;
  std::string next_;  ///< the prefix at which the next take() begins
};

// ---- when to beat

/// Once in heartbeat_interval, sooner when something is new, never two at once, and not while Redis
/// is away.
class HeartbeatTimer {
 public:
  void connected(Instant now) { connected_ = true, due_ = now; }
  void disconnected() { connected_ = out_ = false; }
  /// Something is new: told within half a second, with what else is new by then.
  void asked(Instant now);
  void started(Instant now);
  /// `ineligible`: this Redis does not want it. It is tried again soon, and from the second time in
  /// a row when rights may have changed.
  void answered(bool refused);
  /// nullopt: not before connected() or on_reply().
  [[nodiscard]] std::optional<Instant> due() const;
  [[nodiscard]] bool connected() const { return connected_; }

 private:
  bool connected_ = false;
  bool out_ = false;
  bool asked_ = false;
  unsigned refusals_ = 0;  ///< in a row
  Instant started_{};
  Instant due_{};
};

/// Redis's clock, by ours.
class RedisClock {
 public:
  /// Redis has said `time`, between these two.
  void note(WallTime time, Instant asked, Instant answered);
  void forget() { known_ = false; }
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] WallTime at(Instant when) const;

 private:
  bool known_ = false;
  WallTime time_{0};
  Instant when_{};
};

// ---- all hosts together

struct FleetHost {
  HostHeartbeat
      heartbeat;  ///< where `error` says that it can't be read: the id, and what that says
  WallTime last_heartbeat{0};
  std::string error;              ///< why its beat can't be read; empty: it can
  bool unresponsive = false;      ///< since last_heartbeat
  bool config_outdated = false;   ///< another config was applied elsewhere, and not here
  bool duplicate_name = false;    ///< another host that is there has it too
  std::vector<ListStatus> lists;  ///< by prefix, as it last told of them
  std::string lists_error;        ///< why (some of) its lists can't be read
  bool lists_truncated = false;   ///< it has more lists than are shown

  /// "running", …, "unresponsive", "unknown"
  [[nodiscard]] const char* state() const;
};

struct FleetView {
  std::string fleet;
  WallTime now{0};
  std::string error;               ///< why it can't be read; empty: it can
  bool unreachable = false;        ///< Redis is away: nothing of it is known
  std::vector<FleetHost> hosts;    ///< by name
  bool truncated = false;          ///< there are more hosts than are shown
  std::string latest_config_hash;  ///< what who is behind has not; empty: nobody is
};

/// Notes that not all lists of the host are shown.
void truncate_lists(FleetHost& host);
/// Says who is silent, behind, or has another's name; and sorts.
void classify(FleetView& view);
/// Returns why `own` must claim nothing: a live host of the fleet uses another format and started
/// earlier, or at the same time with a smaller ID. Empty: there is none. nullptr: a client, which
/// must change nothing while any live host uses another format.
std::string format_conflict(const FleetView& view, const HostHeartbeat* own);
/// The name in a host id: all but its random part.
std::string name_in_host_id(std::string_view id);

}  // namespace w8y
