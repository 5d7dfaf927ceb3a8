// The events of a host as they occur, for all handlers: the log, the event stream of the API,
// systemd.
//
// Texts and items are views of the sender's data, valid until on_event() returns. A handler that
// keeps them must copy them. Creating an event therefore costs almost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "core/item.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"
#include "core/status.hpp"

namespace w8y {

// ---- runs

/// The run to which an event belongs.
struct RunRef {
  std::string_view prefix;
  std::string_view run;
  ItemRef item;
};

struct RunStarted {
  RunRef of;
  int pid = 0;
  unsigned attempt = 1;
  std::optional<std::uint64_t> fence;  ///< only for kinds of work that have one
};
struct RunProgressed {
  RunRef of;
  Progress progress;
};
struct RunUpdated {
  RunRef of;
  std::string_view data;  ///< JSON, as the executor sent it
};
/// A line of log output: raw bytes.
struct RunLogged {
  RunRef of;
  std::string_view line;
  bool cut = false;  ///< true if it was longer than `max_line`
};
/// A line of standard output that is not a valid message.
struct RunLineIgnored {
  RunRef of;
  std::string_view reason;
  std::size_t number = 1;  ///< count of such lines of this run so far
};
/// A valid message with one part that is ignored.
struct RunPartIgnored {
  RunRef of;
  std::string_view reason;
};
struct RunEnded {
  RunRef of;
  const Outcome& outcome;
  Duration duration{0};
  unsigned attempt = 1;
  std::size_t bad_lines = 0;  ///< of its standard output, in total
};
struct LeaseChanged {
  RunRef of;
  bool held = false;    ///< true = regained; false = lost
  bool killed = false;  ///< the run was killed because its lease was lost
};
struct RunCancelled {  ///< by an operator
  std::string_view run;
};
/// The settlement of a run, or a part of it, will never be written to Redis.
struct SettlementAbandoned {
  std::string_view prefix;
  std::string_view run;
  std::string_view why;
};
/// The same for all runs of a Redis that is no longer in the config.
struct SettlementsAbandoned {
  std::string_view redis;
  std::string_view prefix;
  std::size_t runs = 0;
};
/// An item was quarantined.
struct ItemQuarantined {
  std::string_view prefix;
  ItemRef item;
  std::string_view why;
};
/// An event of a `stream` process that belongs to no single run.
struct StreamProcessEvent {
  std::string_view prefix;
  int pid = 0;
  const ProcessEvent& news;
};

// ---- lists

/// A current or earlier poller of a list. `id` only distinguishes pollers; it must not be
/// dereferenced.
struct PollerRef {
  std::string_view prefix;
  const void* id = nullptr;
};

struct ListChanged {
  std::string_view prefix;
  ListState state = ListState::probing;
  std::string_view why;
  std::string_view program{};  ///< the program that serves the list or should
  bool of_host = false;        ///< ineligible because of the host, regardless of the program
};
/// This host cannot start runs of the list, or can again.
struct ShortageChanged {
  PollerRef of;
  bool ended = false;
  std::string_view reason;   ///< while `over` is false
  std::size_t attempts = 0;  ///< runs that could not be started; when `over` is true
  Duration lasted{0};
};
/// Maintenance of a list fails, or succeeds again.
struct MaintenanceChanged {
  std::string_view prefix;
  bool ended = false;
  std::string_view reason;  ///< while `over` is false
};
/// Redis refuses all claims from the list, or accepts them again.
struct ClaimsRefused {
  PollerRef of;
  bool ended = false;
  std::string_view reason;  ///< while `over` is false
};
/// An operator has paused, halted or resumed the list. Detected by claims.
struct ListPaused {
  PollerRef of;
  bool ended = false;
};
/// The breaker of the list has opened or closed. Detected by claims.
struct BreakerChanged {
  PollerRef of;
  bool ended = false;
  std::string_view reason;  ///< while `ended` is false
};
/// Redis refuses a part of the settlements, or accepts all of them again.
struct WritesRefused {
  PollerRef of;
  bool ended = false;
  std::string_view reason;  ///< while `over` is false
};
/// Items of the list wait longer than its overdue_after, or no longer do.
struct ListOverdue {
  std::string_view prefix;
  bool ended = false;
  std::string_view why;  ///< while `over` is false
};
/// The poller no longer exists. Its problems are neither ended nor continuing.
struct PollerGone {
  PollerRef of;
};

// ---- the host

/// The host serves its lists for the first time.
struct HostReady {
  std::size_t lists = 0;
  std::string_view config;  ///< its hash
};
struct HostChanged {
  HostState state = HostState::starting;
  std::string_view why;
  std::size_t running = 0;  ///< number of runs when it starts to drain
};
/// A repeated drain: all runs are stopped or killed.
struct RunsSignalled {
  bool killed = false;  ///< true = SIGKILL, false = SIGTERM
  std::string_view why;
  std::size_t running = 0;
};
struct ReloadStarted {
  std::string_view file;
};
struct ReloadNotStarted {  ///< the config has no file, or the host drains
  std::string_view why;
};
struct Reloaded {
  bool applied = false;
  std::uint64_t generation = 0;
  std::string_view text;                            ///< the changes, or the error
  const std::vector<std::string>* lines = nullptr;  ///< one line per change or per error
  std::string_view config{};                        ///< hash of the config
};
struct RedisChanged {
  bool connected = false;
  std::string_view error;
  std::string_view redis;  ///< URL of Redis, without secrets
  bool first = false;      ///< the first connection to this Redis
  Duration away{0};        ///< duration of the outage; when it is available again
};

/// A gearmand is unavailable, or available again. Reported once for all lists.
struct GearmanChanged {
  bool connected = false;
  std::string_view server;
  std::string_view error;
  bool first = false;  ///< the first connection to this server
  Duration away{0};    ///< duration of the outage; when it is available again
};
/// An error that a gearmand returned, or a job from it that cannot be run.
struct GearmanProblem {
  std::string_view server;
  std::string_view prefix;
  std::string_view why;
};

using Event =
    std::variant<RunStarted, RunProgressed, RunUpdated, RunLogged, RunLineIgnored, RunPartIgnored,
                 RunEnded, LeaseChanged, RunCancelled, SettlementAbandoned, SettlementsAbandoned,
                 ItemQuarantined, StreamProcessEvent, ListChanged, ShortageChanged, ClaimsRefused,
                 ListPaused, BreakerChanged, WritesRefused, MaintenanceChanged, ListOverdue,
                 PollerGone, HostReady, HostChanged, RunsSignalled, ReloadStarted, ReloadNotStarted,
                 Reloaded, RedisChanged, GearmanChanged, GearmanProblem>;

class EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void on_event(const Event& event) = 0;
  /// Returns false if the handler ignores starts, progress and updates. They are not sent to it
  /// then.
  [[nodiscard]] virtual bool listens() const { return true; }
};

/// Sends each event to all handlers, in the order in which the handlers were added.
class EventFanOut final : public EventHandler {
 public:
  /// `listener` must outlive all events, or this object.
  void add(EventHandler& listener) { listeners_.push_back(&listener); }
  void on_event(const Event& event) override {
    for (EventHandler* listener : listeners_) listener->on_event(event);
  }
  [[nodiscard]] bool listens() const override;

 private:
  std::vector<EventHandler*> listeners_;
};

/// Returns the `type` of the event's JSON, which is also the name of its server-sent event:
/// "start", "progress", "update", "end", "lease", "list", "host", "reload", "redis". Returns
/// nullptr if the API does not send the event.
const char* event_name(const Event& event);

}  // namespace w8y
