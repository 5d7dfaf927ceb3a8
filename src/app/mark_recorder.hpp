// Records events of this host as marks beside the statistics of the fleet (w8y-keys(7)).
#pragma once

#include <memory>
#include <string>

#include "core/events.hpp"
#include "core/supervisor.hpp"
#include "loop/loop.hpp"
#include "store/fleet/marks.hpp"
#include "store/fleet/membership.hpp"
#include "store/redis_session.hpp"

namespace w8y::app {

class MarkRecorder {
 public:
  struct Parts {
    loop::Loop& loop;
    const Supervisor& supervisor;
    std::shared_ptr<store::RedisSession> session;
    store::FleetMembership& member;
    std::string host;
    std::string version;
  };
  MarkRecorder(Parts parts, const std::string& fleet);

  /// Records the start of this host if its version differs from that of the previous start. Only
  /// the first call has an effect.
  void record_start(Instant started);
  /// Records a reload that changed the config, and a breaker that opened.
  void on_event(const Event& event);
  /// Keeps the version of this host for its next start.
  void leave();

 private:
  void record_breaker(const std::string& prefix);

  const Parts parts_;
  store::FleetMarks marks_;
  bool started_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
