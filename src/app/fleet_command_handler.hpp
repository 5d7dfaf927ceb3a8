// Fleet commands for this host: executes them and replies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/control.hpp"
#include "app/fleet_command_log.hpp"
#include "core/events.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "ops/log.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/keys.hpp"
#include "store/fleet/membership.hpp"
#include "view/fleet_commands.hpp"
#include "view/fleet_logs.hpp"

namespace w8y::app {

class FleetCommandHandler final : private redis::Subscriber::Listener {
 public:
  struct Parts {
    loop::Loop& loop;
    ops::LineLog& log;
    api::Control& control;
    store::FleetMembership& member;
    redis::Subscriber& subscriber;
    /// Called when an operator has changed a list in Redis.
    std::function<void()> changed;
  };
  FleetCommandHandler(const Parts& parts, const std::string& fleet);
  ~FleetCommandHandler() override;

  /// Forwards the output of runs to followers. Does nothing without followers.
  void on_event(const Event& event);
  [[nodiscard]] bool listens() const { return !followers_.none(); }

 private:
  /// Command whose execution takes long.
  struct Slow;
  struct ToldRuns;

  void on_up() override {}
  void on_down(const std::string&) override {}
  void on_refused(const std::string& channel, const std::string& why) override;
  void on_message(std::string_view payload);
  void reply_with_all_runs(const FleetCommand& order, const std::shared_ptr<ToldRuns>& told);
  void carry_out(const FleetCommand& order);
  void reload(const FleetCommand& order);
  void reply_with_runs(const FleetCommand& order);
  void reply_with_logs(const FleetCommand& order);
  void publish_logs();
  void arm_logs();
  void answer_runs(const std::string& order, ToldRuns& told);
  void send_reply(const std::string& order, const api::CommandResult& result, FleetReply told = {});
  std::shared_ptr<Slow> start_slow(const FleetCommand& order);

  const Parts parts_;
  const store::FleetKeys keys_;
  FleetCommandLog command_log_;
  std::size_t walks_ = 0;  ///< iterations over all lists in progress, each for one reply
  bool refused_told_ = false;
  std::vector<std::shared_ptr<Slow>> slow_;
  LogFollowers followers_;
  Timer logs_timer_;
  redis::Subscription control_;
  redis::Subscription changes_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
