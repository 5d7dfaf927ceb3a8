// Whether this host starts runs: HostState and its changes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/control.hpp"
#include "app/redis_watch.hpp"
#include "core/events.hpp"
#include "core/status.hpp"
#include "core/supervisor.hpp"

namespace w8y::app {

class HostMode {
 public:
  HostMode(Supervisor& supervisor, EventHandler& events)
      : supervisor_(supervisor), events_(events) {}

  /// Called when the host serves its lists for the first time.
  std::function<void()> on_ready;

  // Commands of an operator.
  api::CommandResult quiet();
  api::CommandResult resume();

  /// Called when the first config is in force. With a usable Redis, the host is then ready.
  void lists_served();
  /// Called when the state of Redis changes. The host is quiet while Redis is too old. An outage
  /// needs no action here.
  void redis_changed(RedisState state);
  /// Called after the heartbeats of the fleet were compared with the format of this build
  /// (format_conflict()). nullopt: they must be compared before the next claim.
  void formats_compared(const std::optional<std::string>& conflict);
  /// Empty: no conflict is known.
  [[nodiscard]] std::string format_conflict() const { return conflict_.value_or(std::string()); }
  void draining() { draining_ = true; }
  [[nodiscard]] HostState state() const;

 private:
  void report_ready();
  void update_quiet();

  Supervisor& supervisor_;
  EventHandler& events_;
  RedisState redis_ = RedisState::unavailable;
  std::optional<std::string> conflict_{std::in_place};  ///< nullopt: not compared yet
  bool served_ = false;
  bool ready_ = false;
  bool quiet_ = false;  ///< by an operator
  bool draining_ = false;
};

}  // namespace w8y::app
