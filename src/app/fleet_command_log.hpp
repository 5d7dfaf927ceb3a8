// Log lines about fleet commands, as many as an honest operator causes: who can publish on the
// channel can do so thousands of times a second.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/line_limits.hpp"
#include "core/timers.hpp"
#include "ops/log.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::app {

/// Each kind of command has its own limit, so that no other kind hides it.
class FleetCommandLog {
 public:
  FleetCommandLog(ops::LineLog& log, const Clock& clock, TimerQueue& timers);
  ~FleetCommandLog();  ///< logs what was left out and not told yet
  FleetCommandLog(const FleetCommandLog&) = delete;
  FleetCommandLog& operator=(const FleetCommandLog&) = delete;

  void received(const FleetCommand& order);
  void ignored(const std::string& channel, const std::string& why);
  /// A reply that was not sent.
  void dropped_reply();

 private:
  void arm();
  void tell_left_out();

  ops::LineLog& log_;
  const Clock& clock_;
  LineLimits received_;  ///< by kind
  LineLimits ignored_;   ///< of one talker
  /// Numbers of dropped lines that the log has not reported yet, by kind.
  std::map<std::string, std::size_t> not_logged_;
  std::map<std::string, std::size_t> ignored_not_logged_;
  std::size_t dropped_replies_ = 0;
  Timer timer_;
};

}  // namespace w8y::app
