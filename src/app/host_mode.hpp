// Whether this host begins runs: HostState, and who may change it.
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

  /// It serves its lists, for the first time.
  std::function<void()> on_ready;

  // an operator's orders
  api::CommandResult quiet();
  api::CommandResult resume();

  /// The first config is in force: with a Redis that can be used, the host is ready.
  void lists_served();
  /// A server that is too old is left alone; one that is away answers for itself.
  void redis_changed(RedisState state);
  /// The heartbeats of the fleet were compared with the format of this build (format_conflict());
  /// nullopt: they must be, before the next claim.
  void formats_compared(const std::optional<std::string>& conflict);
  /// Empty: none is known.
  [[nodiscard]] std::string format_conflict() const { return conflict_.value_or(std::string()); }
  void draining() { draining_ = true; }
  [[nodiscard]] HostState state() const;

 private:
  void look_ready();
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
