// Sentinels: they report the address of the primary, and publish a message when another server
// becomes primary.
#pragma once

#include <optional>
#include <vector>

#include "redis/discovery.hpp"
#include "redis/discovery_query.hpp"
#include "redis/subscriber.hpp"

namespace w8y::redis {

/// Discovery that queries first the Sentinel that replied last, and learns other Sentinels from it.
/// After watch(), it is subscribed to one Sentinel at a time, and to the next one if that fails.
class SentinelDiscovery final : public Discovery {
 public:
  SentinelDiscovery(loop::Loop& loop, const ClientOptions& options);
  ~SentinelDiscovery() override;

  void find(Found found) override;
  void cancel() override;
  void watch(Moved moved) override;

 private:
  class Rotation;

  std::string classify(const HostPort& asked, const std::vector<ReplyCopy>& answers);
  void learn(const HostPort& asked, const ReplyCopy& others);
  void prefer(const HostPort& sentinel);
  void on_switch(std::string_view payload);
  [[nodiscard]] std::string problem_text(const std::string& problem) const;

  loop::Loop& loop_;
  const ClientOptions options_;           ///< of the servers with the data
  const ClientOptions sentinel_options_;  ///< of the Sentinels
  std::vector<HostPort> sentinels_;       ///< in the order in which they are queried
  std::optional<HostPort> primary_;       ///< last known
  std::optional<Instant> updated_at_;     ///< time of the last report to the caller
  bool unknown_ = false;                  ///< a Sentinel replied that it has no such service
  Found found_;
  Moved moved_;
  DiscoveryQuery inquiry_;
  DiscoveryQuery requery_;  ///< after the subscription was interrupted
  std::unique_ptr<Subscriber> watch_;
  HostPort watched_;
  Subscription switches_;
};

}  // namespace w8y::redis
