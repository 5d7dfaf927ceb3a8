// Whether this host begins runs: HostState, and who may change it.
#pragma once

#include <functional>

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
  api::ControlResult quiet();
  api::ControlResult resume();

  /// The first config is in force: with a Redis that can be used, the host is ready.
  void lists_served();
  /// A server that is too old is left alone; one that is away answers for itself.
  void redis_changed(RedisState state);
  void draining() { draining_ = true; }
  [[nodiscard]] HostState state() const;

 private:
  void look_ready();
  void update_quiet();

  Supervisor& supervisor_;
  EventHandler& events_;
  RedisState redis_ = RedisState::down;
  bool served_ = false;
  bool ready_ = false;
  bool quiet_ = false;  ///< by an operator
  bool draining_ = false;
};

}  // namespace w8y::app
