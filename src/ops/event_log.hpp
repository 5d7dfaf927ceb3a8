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
  struct Teller;

  // Runs.
  void tell(const RunStarted& event);
  void tell(const RunProgressed& event);
  void tell(const RunUpdated&) {}  // for event streams
  void tell(const RunLogged& event);
  void tell(const RunLineIgnored& event);
  void tell(const RunPartIgnored& event);
  void tell(const RunEnded& event);
  void tell(const LeaseChanged& event);
  void tell(const RunCancelled& event);
  void tell(const SettlementAbandoned& event);
  void tell(const SettlementsAbandoned& event);
  void tell(const ItemQuarantined& event);
  void tell(const StreamProcessEvent& event);
  // Lists.
  void tell(const ListChanged& event);
  void tell(const ShortageChanged& event);
  void tell(const ClaimsRefused& event);
  void tell(const ListPaused&) {}  // the operator gets a reply
  void tell(const WritesRefused& event);
  void tell(const MaintenanceChanged& event);
  void tell(const ListOverdue& event);
  void tell(const PollerGone& event);
  // The host.
  void tell(const HostReady& event);
  void tell(const HostChanged& event);
  void tell(const RunsSignalled& event);
  void tell(const ReloadStarted& event);
  void tell(const ReloadNotStarted& event);
  void tell(const Reloaded& event);
  void tell(const RedisChanged& event);
  void tell(const GearmanChanged& event);
  void tell(const GearmanProblem& event);

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
