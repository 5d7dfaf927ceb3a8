// Follows what runs write, on whichever hosts they are: the orders `logs` that are renewed, and the
// channel on which lines come.
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
    /// What hosts answered: runs with what they wrote before. First, and once.
    virtual void on_followed(const FleetCommandResult& outcome) = 0;
    /// Also before on_followed(), of runs that have begun meanwhile.
    virtual void on_log(LogMessage&& message) = 0;
    /// Of one run: it does not go on any more, and its end was not heard. Its host was killed, or
    /// Redis was away. Perhaps again.
    virtual void on_vanished() = 0;
  };
  /// Of runs whose ids start so, of that list where one is named.
  struct Filter {
    std::string run;
    std::optional<std::string> list;
    std::string by;
  };

  /// `id`: nobody else's, letters and digits. All outlive this.
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
