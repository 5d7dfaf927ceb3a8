// Log lines about fleet commands. Their rate is limited, because a client that may publish on the
// channel can send thousands of messages per second.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/line_limits.hpp"
#include "core/timers.hpp"
#include "ops/log.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::app {

/// Log with a separate limit for each kind of command, so that no kind hides another one.
class FleetCommandLog {
 public:
  FleetCommandLog(ops::LineLog& log, const Clock& clock, TimerQueue& timers);
  ~FleetCommandLog();  ///< logs the numbers of dropped lines that are not logged yet
  FleetCommandLog(const FleetCommandLog&) = delete;
  FleetCommandLog& operator=(const FleetCommandLog&) = delete;

  void received(const FleetCommand& order);
  void ignored(const std::string& channel, const std::string& why);
  /// Counts a reply that was not sent.
  void dropped_reply();

 private:
  void arm();
  void log_omitted();

  ops::LineLog& log_;
  const Clock& clock_;
  LineLimits received_;  ///< by kind of command
  LineLimits ignored_;   ///< one limit for all invalid commands
  /// Numbers of dropped lines that are not logged yet, by kind.
  std::map<std::string, std::size_t> not_logged_;
  std::map<std::string, std::size_t> ignored_not_logged_;
  std::size_t dropped_replies_ = 0;
  Timer timer_;
};

}  // namespace w8y::app
