// Reads the heartbeats of all hosts of a fleet, without their lists.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/client.hpp"
#include "store/fleet/keys.hpp"
#include "view/fleet.hpp"

namespace w8y::store {

/// Reads on request, never periodically. Requests at the same time share one reading. A reading
/// takes many loop iterations and a few milliseconds of each, regardless of the contents of Redis.
class FleetReader {
 public:
  using ViewPtr = std::shared_ptr<const FleetView>;
  using Then = std::function<void(const ViewPtr&)>;

  FleetReader(loop::Loop& loop, redis::Client& client, const std::string& fleet);
  ~FleetReader();
  FleetReader(const FleetReader&) = delete;
  FleetReader& operator=(const FleetReader&) = delete;

  /// Reads all heartbeats. `then` is called once, from the loop; dropped with the reader.
  void read(Then then);

 private:
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;

  void begin();
  void ask_time(const RoundPtr& round);
  void ask_hosts(const RoundPtr& round);
  void take_hosts(const RoundPtr& round, const redis::Answer& answer);
  void ask_heartbeats(const RoundPtr& round);
  void take_heartbeat(const RoundPtr& round, std::size_t host, const redis::Reply& reply);
  void finish(const RoundPtr& round);
  void fail(const RoundPtr& round, const redis::Answer& answer, const std::string& key);
  void call(const RoundPtr& round, const redis::Command& command, const std::string& key,
            std::function<void(const redis::Answer&)> look);

  loop::Loop& loop_;
  redis::Client& client_;
  const std::string fleet_;
  const FleetKeys keys_;
  RoundPtr round_;
  std::vector<Then> later_;
  Timer begin_;
};

}  // namespace w8y::store
