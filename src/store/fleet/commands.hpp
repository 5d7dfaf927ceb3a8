// Commands to the hosts of a fleet: sends them and collects the replies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/reader.hpp"
#include "view/fleet_commands.hpp"

namespace w8y::store {

class FleetCommands {
 public:
  using Then = std::function<void(FleetCommandResult&&)>;

  FleetCommands(loop::Loop& loop, redis::Client& client, redis::Subscriber& subscriber,
                FleetReader& reader, const std::string& fleet, std::uint64_t seed);
  ~FleetCommands();
  FleetCommands(const FleetCommands&) = delete;
  FleetCommands& operator=(const FleetCommands&) = delete;

  /// Sends a command. Fills in `order.id` and `order.until`. `then` is called once, from the loop,
  /// when all hosts with a heartbeat have replied, or after order_timeout; dropped with this
  /// object.
  void send(FleetCommand order, Then then);

 private:
  struct Pending;
  using GivenPtr = std::shared_ptr<Pending>;

  void handle_view(const GivenPtr& given, const FleetView& view);
  void publish(const GivenPtr& given);
  void handle_reply(const GivenPtr& given, std::string_view payload);
  void finish_at(const GivenPtr& given, Instant when);
  void finish(const GivenPtr& given);
  void fail(const GivenPtr& given, std::string why);
  std::string new_id();

  loop::Loop& loop_;
  redis::Client& client_;
  redis::Subscriber& subscriber_;
  FleetReader& reader_;
  const FleetKeys keys_;
  std::uint64_t seed_;
  std::vector<GivenPtr> pending_;
};

}  // namespace w8y::store
