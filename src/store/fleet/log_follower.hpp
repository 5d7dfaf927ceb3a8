// Follows the output of runs on all hosts. Renews `logs` commands periodically, and receives the
// lines on a channel.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/timers.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/commands.hpp"
#include "view/fleet_logs.hpp"

namespace w8y::store {

class LogFollower {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Called once, before on_vanished(). `outcome`: the replies of the hosts, with their runs and
    /// earlier output.
    virtual void on_followed(const FleetCommandResult& outcome) = 0;
    /// Called for each line. May come before on_followed(), for runs that have started meanwhile.
    virtual void on_log(LogMessage&& message) = 0;
    /// Called if one run is followed, and it is no longer active without a message about its end:
    /// its host was killed, or Redis was unavailable. May be called repeatedly.
    virtual void on_vanished() = 0;
  };
  /// Selects runs by the start of their IDs and, if given, by list.
  struct Filter {
    std::string run;
    std::optional<std::string> list;
    std::string by;
  };

  /// `id`: unique, letters and digits. All arguments must outlive this object.
  LogFollower(loop::Loop& loop, redis::Subscriber& subscriber, FleetCommands& orders,
              const std::string& fleet, const std::string& id, Filter wish, Handler& handler);
  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

 private:
  void ask();
  void answered(const FleetCommandResult& outcome);
  void heard(std::string_view payload);

  loop::Loop& loop_;
  FleetCommands& orders_;
  const std::string id_;
  const Filter wish_;
  Handler& handler_;
  bool followed_ = false;
  bool started_ = false;
  Timer again_;
  Timer vanished_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  redis::Subscription lines_;
};

}  // namespace w8y::store
