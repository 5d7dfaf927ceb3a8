// Interface to the programs that do the work. An Executor handles processes; a Poller does not.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "core/caps.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/message.hpp"
#include "core/outcome.hpp"
#include "core/run_stats.hpp"

namespace w8y {

struct ProcessStarted {};
/// A line of standard error that belongs to no single run: raw bytes.
struct ProcessLine {
  std::string_view line;
  bool cut = false;  ///< true if it was longer than `max_line`
};
/// A line of output that belongs to no run.
struct ProcessBadLine {
  std::string reason;
  std::size_t number = 1;  ///< per process, from 1
};
struct ProcessEnded {
  std::string how;            ///< for people: "exit 1"
  bool early = false;         ///< it ended without a request to stop
  std::size_t bad_lines = 0;  ///< in total
  ResourceUse used = {};      ///< for all of its runs
};
/// An event of a `stream` process that belongs to no single run.
using ProcessEvent = std::variant<ProcessStarted, ProcessLine, ProcessBadLine, ProcessEnded>;

class RunHandler {
 public:
  virtual ~RunHandler() = default;
  /// Called when a process has been given the item. Called again if that process ended before it
  /// read the item, and another process gets the item.
  virtual void on_started(const RunId& run, int pid) = 0;
  /// Called with a line of the protocol, including `BadLine`.
  virtual void on_message(const RunId& run, Message&& message) = 0;
  /// Called with a line of log output: raw bytes. `cut` is true if it was longer than `max_line`.
  virtual void on_log(const RunId& run, std::string_view line, bool cut) = 0;
  /// Called with the number of lines that were read since the last call, including ignored lines.
  virtual void on_lines(const LineCounts& /*read*/) {}
  /// Called exactly once per start(). Either the process has exited and its outputs are closed, or
  /// it has replied for the run and accepts other runs. After this the Executor has no state for
  /// the run.
  virtual void on_ended(const RunId& run, RunEnd&& end) = 0;
  virtual void on_process(int /*pid*/, const ProcessEvent& /*news*/) {}
};

/// Runs items with one kind of program. Never calls its handler inside start(), stop() or kill().
/// Every error is reported by on_ended(). The destructor kills all runs without callbacks.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void start(const Claim& claim, ListConfigPtr rule) = 0;
  /// Sends SIGTERM to the run's process group, and SIGKILL after `kill_grace`. A `stream` process
  /// first receives a `cancel` message for this run, and has `kill_grace` to handle it.
  virtual void stop(const RunId& run) = 0;
  /// Sends SIGKILL to the run's process group immediately.
  virtual void kill(const RunId& run) = 0;
  /// No start() follows. Processes that wait for more runs may end.
  virtual void retire() {}
  /// Returns the end of the run's log output so far, up to the part that is kept.
  [[nodiscard]] virtual std::string tail(const RunId& /*run*/) const { return {}; }
  /// Returns true if it has had no run, so that a new Executor could replace it.
  [[nodiscard]] virtual bool unused() const { return false; }
  /// Maximum number of runs at once.
  [[nodiscard]] virtual std::size_t capacity() const {
    return std::numeric_limits<std::size_t>::max();
  }
};

/// Checks whether this host can serve a list config.
class Prober {
 public:
  virtual ~Prober() = default;
  using Answer = std::function<void(ProbeResult&&)>;
  /// Checks the prerequisites of the list: directory, file, account and limits, then the program.
  /// An executor is run with `--caps`. The program of a plain command must only exist. `answer` is
  /// called once, later, unless the Prober is destroyed first.
  virtual void look_for(const ListConfig& rule, Duration timeout, Answer answer) = 0;
};

}  // namespace w8y
