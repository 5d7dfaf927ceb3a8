// What happens on a host, told to the log and to whoever listens to the API's events.
#pragma once

#include <string>

#include <w8y/events.hpp>
#include <w8y/gathered.hpp>
#include <w8y/line_limits.hpp>
#include <w8y/served_list.hpp>

#include "ops/log.hpp"

namespace w8y::app {

class Journal final : public ServedListEvents {
 public:
  Journal(ops::Log& log, EventHandler& events, const Clock& clock, TimerQueue& timers);
  ~Journal() override;

  void run_started(const Poller& poller, const ActiveRun& run) override;
  void run_message(const Poller& poller, const ActiveRun& run, const Message& message) override;
  void run_logged(const Poller& poller, const ActiveRun& run, std::string_view line,
                  bool cut) override;
  void run_ended(const Poller& poller, const EndedRun& run) override;
  void process_news(const Poller& poller, int pid, const ProcessNews& news) override;
  void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) override;
  void item_parked(const Poller& poller, const ShownItem& item, const std::string& why) override;
  void given_up(const Poller& poller, const RunId& run, const std::string& why) override;
  void unwritten_changed(const Poller& poller) override;
  void state_changed(Poller& poller) override;
  void shortage_changed(const Poller& poller) override;
  void list_refused(const Rule& rule, const Refusal& refusal) override;
  void list_served(const Rule& rule, const Caps& caps) override;
  /// Ends of runs of a list, on a Redis that is no longer configured, are given up.
  void given_up(const std::string& redis, const std::string& list, std::size_t runs);
  /// Writes what waits for more of the same.
  void flush() { gathered_.flush(); }

 private:
  /// Of a run's lines that are no messages, the first few are logged, the rest only counted.
  static constexpr std::size_t bad_lines_logged = 3;

  /// Whether a line that a child wrote is to be logged; says how many were left out before it.
  bool admits(const std::string& talker, ops::LogField of, const std::string& list);
  void tell_left_out(std::size_t lines, ops::LogField of, const std::string& list);
  void tell_end(const EndedRun& run);
  void tell_lost_run(const EndedRun& run);

  ops::Log& log_;
  EventHandler& events_;
  LineLimits talkers_;  ///< by run, or by list and process
  Gathered gathered_;
  Troubles shortages_;
  Troubles refusals_;  ///< by Redis
  Troubles unwritten_;
};

}  // namespace w8y::app
