// Writes events as lines of the log: one line per cause, regardless of the number of lists or runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/event_coalescer.hpp"
#include "core/events.hpp"
#include "core/line_limits.hpp"
#include "ops/log.hpp"

namespace w8y::ops {

class EventLog final : public EventHandler {
 public:
  EventLog(LineLog& log, const Clock& clock, TimerQueue& timers);
  ~EventLog() override;

  void on_event(const Event& event) override;
  /// Frequent events are logged at level debug.
  [[nodiscard]] bool listens() const override { return log_.enabled(LogLevel::debug); }
  /// Number of output lines of the list's children that were dropped since the start of w8yd.
  [[nodiscard]] std::uint64_t left_out(const std::string& list) const;
  /// Writes the events that wait to be coalesced.
  void flush() { gathered_.flush(); }

 private:
  /// Number of invalid protocol lines of a run or a process that are logged. The others are only
  /// counted.
  static constexpr std::size_t ignored_lines_logged = 3;

  // Runs.
  void write(const RunStarted& event);
  void write(const RunProgressed& event);
  void write(const RunUpdated&) {}  // for event streams
  void write(const RunLogged& event);
  void write(const RunLineIgnored& event);
  void write(const RunPartIgnored& event);
  void write(const RunEnded& event);
  void write(const LeaseChanged& event);
  void write(const RunCancelled& event);
  void write(const SettlementAbandoned& event);
  void write(const SettlementsAbandoned& event);
  void write(const ItemQuarantined& event);
  void write(const StreamProcessEvent& event);
  // Lists.
  void write(const ListChanged& event);
  void write(const ShortageChanged& event);
  void write(const ClaimsRefused& event);
  void write(const ListPaused&) {}  // the operator gets a reply
  void write(const BreakerChanged& event);
  void write(const WritesRefused& event);
  void write(const MaintenanceChanged& event);
  void write(const ListOverdue& event);
  void write(const PollerGone& event);
  // The host.
  void write(const HostReady& event);
  void write(const HostChanged& event);
  void write(const RunsSignalled& event);
  void write(const ReloadStarted& event);
  void write(const ReloadNotStarted& event);
  void write(const Reloaded& event);
  void write(const RedisChanged& event);
  void write(const GearmanChanged& event);
  void write(const GearmanProblem& event);

  /// Whether to log a line that a child wrote. If lines were dropped before it, logs their number.
  bool admits(std::string_view talker, LogField of, std::string_view list);
  void log_omitted(std::size_t lines, LogField of, std::string_view list);
  /// Whether to log the event of an operator's command. If lines were dropped before it, logs their
  /// number.
  bool admits_command(const char* kind);
  void log_end(const RunEnded& run);
  void log_lost_run(const RunEnded& run);

  LineLog& log_;
  std::map<std::string, std::uint64_t> left_out_;  ///< lines, by list
  LineLimits talkers_;                             ///< by run, or by list and process
  LineLimits commands_;                            ///< by kind
  EventCoalescer gathered_;
  ProblemTracker shortages_;
  ProblemTracker refusals_;
  ProblemTracker unwritten_;
};

}  // namespace w8y::ops
