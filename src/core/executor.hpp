// The port to the programs that do the work. An Executor knows processes; a Poller doesn't.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/caps.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"
#include "core/run_stats.hpp"

namespace w8y {

struct ProcessStarted {};
/// Of its standard error, while no single run is open: raw bytes.
struct ProcessLine {
  std::string_view line;
  bool cut = false;  ///< it was longer than `max_line`
};
/// A line of its output that belongs to no run.
struct ProcessBadLine {
  std::string reason;
  std::size_t number = 1;  ///< counted from 1 for each process
};
struct ProcessEnded {
  std::string how;            ///< for people: "exit 1"
  bool early = false;         ///< it was not asked to end
  std::size_t bad_lines = 0;  ///< in all
  ResourceUse used = {};      ///< for all of its runs
};
/// What a process that takes many runs does besides them.
using ProcessEvent = std::variant<ProcessStarted, ProcessLine, ProcessBadLine, ProcessEnded>;

class RunHandler {
 public:
  virtual ~RunHandler() = default;
  /// Again if a process that had not read the item yet has ended, and another gets it.
  virtual void on_started(const RunId& run, int pid) = 0;
  /// A line of the protocol; `BadLine` too.
  virtual void on_message(const RunId& run, Message&& message) = 0;
  /// A line for the log: raw bytes, `cut` if it was longer than `max_line`.
  virtual void on_log(const RunId& run, std::string_view line, bool cut) = 0;
  /// How many lines were read just now, whatever they are and whether anybody was told of them.
  virtual void on_lines(const LineCounts& /*read*/) {}
  /// Exactly once per start(): the process has exited and its outputs are at their end, or it has
  /// answered for the run and takes others. After this the Executor has forgotten the run.
  virtual void on_ended(const RunId& run, RunEnd&& end) = 0;
  virtual void on_process(int /*pid*/, const ProcessEvent& /*news*/) {}
};

/// Runs items with one kind of program. Never calls its handler from inside start(), stop() or
/// kill(); whatever goes wrong comes as on_ended(). Destroying it kills what runs, silently.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void start(const Claim& claim, ListConfigPtr rule) = 0;
  /// SIGTERM to the run's process group; SIGKILL after the rule's `kill_grace`. A process that
  /// takes many runs is asked to cancel this one first, and has `kill_grace` for that.
  virtual void stop(const RunId& run) = 0;
  /// SIGKILL to the run's process group, now.
  virtual void kill(const RunId& run) = 0;
  /// No start() follows: what waits for more runs may go.
  virtual void retire() {}
  /// The end of what the run has written to standard error so far, as far as that is kept.
  [[nodiscard]] virtual std::string tail(const RunId& /*run*/) const { return {}; }
  /// A new one in its place would be the same: it has had no run.
  [[nodiscard]] virtual bool unused() const { return false; }
  /// Runs that it takes at once.
  [[nodiscard]] virtual std::size_t capacity() const {
    return std::numeric_limits<std::size_t>::max();
  }
};

/// Finds out whether this host can serve a rule.
class Prober {
 public:
  virtual ~Prober() = default;
  using Answer = std::function<void(ProbeResult&&)>;
  /// Whether what the rule names is here: its folder, file, account and limits; then its program.
  /// An executor says what it can do, a command has only to be there. The answer comes later, once,
  /// unless the Prober is destroyed first.
  virtual void look_for(const ListConfig& rule, Duration timeout, Answer answer) = 0;
};

}  // namespace w8y
