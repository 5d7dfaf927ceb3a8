// What happens on a host, as it happens: one vocabulary for all who listen (the log, the API's
// event stream, systemd).
//
// Texts and items are views of what the teller has: good until on_event() returns. Who keeps one
// copies it. So an event costs next to nothing to tell.
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

/// Which run an event belongs to.
struct RunRef {
  std::string_view prefix;
  std::string_view run;
  ItemRef item;
};

struct RunStarted {
  RunRef of;
  int pid = 0;
  unsigned attempt = 1;
  std::optional<std::uint64_t> fence;  ///< where the kind of work has one
};
struct RunProgressed {
  RunRef of;
  Progress progress;
};
struct RunUpdated {
  RunRef of;
  std::string_view data;  ///< JSON, as the executor gave it
};
/// A line for the log: raw bytes.
struct RunLogged {
  RunRef of;
  std::string_view line;
  bool cut = false;  ///< it was longer than `max_line`
};
/// A line of standard output that is no message.
struct RunLineIgnored {
  RunRef of;
  std::string_view reason;
  std::size_t number = 1;  ///< of such lines of this run
};
/// A message that counts, but for a part of it.
struct RunPartIgnored {
  RunRef of;
  std::string_view reason;
};
struct RunEnded {
  RunRef of;
  const Outcome& outcome;
  Duration took{0};
  unsigned attempt = 1;
  std::size_t bad_lines = 0;  ///< of its standard output, in all
};
struct LeaseChanged {
  RunRef of;
  bool held = false;    ///< false: lost; true: ours again
  bool killed = false;  ///< the run, since its lock is lost
};
struct RunCancelled {  ///< by an operator
  std::string_view run;
};
/// A run's end, or a part of it, will never be written to Redis.
struct SettlementAbandoned {
  std::string_view prefix;
  std::string_view run;
  std::string_view why;
};
/// The same for runs whose Redis is no longer in the config.
struct SettlementsAbandoned {
  std::string_view redis;
  std::string_view prefix;
  std::size_t runs = 0;
};
/// An item is out of circulation.
struct ItemQuarantined {
  std::string_view prefix;
  ItemRef item;
  std::string_view why;
};
/// What a process that takes many runs does besides them.
struct StreamProcessEvent {
  std::string_view prefix;
  int pid = 0;
  const ProcessEvent& news;
};

// ---- lists

/// One of the pollers that a list has or had. `id` tells them apart, and is no more than that.
struct PollerRef {
  std::string_view prefix;
  const void* id = nullptr;
};

struct ListChanged {
  std::string_view prefix;
  ListState state = ListState::probing;
  std::string_view why;
  std::string_view program{};  ///< that serves it, or can't
  bool of_host = false;        ///< refused for what the host lacks, whatever the program is
};
/// This host can't start runs of the list, or can again.
struct ShortageChanged {
  PollerRef of;
  bool over = false;
  std::string_view reason;   ///< while it is not over
  std::size_t attempts = 0;  ///< in vain, when it is over
  Duration lasted{0};
};
/// What a list needs besides its runs (Upkeep) can't be done, or can again.
struct MaintenanceChanged {
  std::string_view prefix;
  bool over = false;
  std::string_view reason;  ///< while it is not over
};
/// Redis refuses the list as a whole, or takes it again.
struct ClaimsRefused {
  PollerRef of;
  bool over = false;
  std::string_view reason;  ///< while it is not over
};
/// An operator has paused or halted the list, or has ended that: as its claims find it.
struct ListPaused {
  PollerRef of;
  bool over = false;
};
/// Redis refuses a part of what is written of runs, or takes all again.
struct WritesRefused {
  PollerRef of;
  bool over = false;
  std::string_view reason;  ///< while it is not over
};
/// Items of the list wait longer for their turn than its overdue_after, or don't any more.
struct ListOverdue {
  std::string_view prefix;
  bool over = false;
  std::string_view why;  ///< while it is not over
};
/// What it had of all these is no news any more.
struct PollerGone {
  PollerRef of;
};

// ---- the host

/// It serves its lists, for the first time.
struct HostReady {
  std::size_t lists = 0;
  std::string_view config;  ///< its hash
};
struct HostChanged {
  HostState state = HostState::starting;
  std::string_view why;
  std::size_t running = 0;  ///< runs, when it begins to drain
};
/// A drain was ordered again: all runs are ended.
struct RunsSignalled {
  bool killed = false;  ///< else asked by SIGTERM
  std::string_view why;
  std::size_t running = 0;
};
struct ReloadStarted {
  std::string_view file;
};
struct ReloadNotStarted {  ///< there was none
  std::string_view why;
};
struct Reloaded {
  bool applied = false;
  std::uint64_t generation = 0;
  std::string_view text;                            ///< what changed, or what is wrong
  const std::vector<std::string>* lines = nullptr;  ///< each change, each mistake
  std::string_view config{};                        ///< its hash
};
struct RedisChanged {
  bool connected = false;
  std::string_view error;
  std::string_view redis;  ///< its URL, without secrets
  bool first = false;      ///< this connection was not there before
  Duration away{0};        ///< when it is back
};

/// A gearmand can't be used, or can again: once for all lists.
struct GearmanChanged {
  bool connected = false;
  std::string_view server;
  std::string_view error;
  bool first = false;  ///< it was not reached before
  Duration away{0};    ///< when it is back
};
/// What a gearmand has answered with an error, or a job of it that can't be run.
struct GearmanProblem {
  std::string_view server;
  std::string_view prefix;
  std::string_view why;
};

using Event =
    std::variant<RunStarted, RunProgressed, RunUpdated, RunLogged, RunLineIgnored, RunPartIgnored,
                 RunEnded, LeaseChanged, RunCancelled, SettlementAbandoned, SettlementsAbandoned,
                 ItemQuarantined, StreamProcessEvent, ListChanged, ShortageChanged, ClaimsRefused,
                 ListPaused, WritesRefused, MaintenanceChanged, ListOverdue, PollerGone, HostReady,
                 HostChanged, RunsSignalled, ReloadStarted, ReloadNotStarted, Reloaded,
                 RedisChanged, GearmanChanged, GearmanProblem>;

class EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void on_event(const Event& event) = 0;
  /// False: it does nothing with starts, progress and updates, which needn't be told.
  [[nodiscard]] virtual bool listens() const { return true; }
};

/// Hands each event to all who listen, in the order in which they came.
class EventFanOut final : public EventHandler {
 public:
  /// It outlives all events, or the fan-out.
  void add(EventHandler& listener) { listeners_.push_back(&listener); }
  void on_event(const Event& event) override {
    for (EventHandler* listener : listeners_) listener->on_event(event);
  }
  [[nodiscard]] bool listens() const override;

 private:
  std::vector<EventHandler*> listeners_;
};

/// "start", "progress", "update", "end", "lease", "list", "host", "reload", "redis": the `type` of
/// its JSON and the name of its server-sent event. nullptr: the API does not tell it.
const char* event_name(const Event& event);

}  // namespace w8y
