// Sentinels: they know where the primary is, and say so when another server becomes it.
#pragma once

#include <optional>
#include <vector>

#include "redis/discovery.hpp"
#include "redis/discovery_query.hpp"
#include "redis/subscriber.hpp"

namespace w8y::redis {

/// The sentinel that answered last is asked first; others than those of the URL are learned from
/// it. Once watched, one sentinel at a time is listened to, the next one when it dies.
class SentinelDiscovery final : public Discovery {
 public:
  SentinelDiscovery(loop::Loop& loop, const ClientOptions& options);
  ~SentinelDiscovery() override;

  void find(Found found) override;
  void cancel() override;
  void watch(Moved moved) override;

 private:
  class Rotation;

  std::string judge(const HostPort& asked, const std::vector<ReplyCopy>& answers);
  void learn(const HostPort& asked, const ReplyCopy& others);
  void prefer(const HostPort& sentinel);
  void on_switch(std::string_view payload);
  [[nodiscard]] std::string problem_text(const std::string& problem) const;

  loop::Loop& loop_;
  const ClientOptions options_;           ///< of the servers with the data
  const ClientOptions sentinel_options_;  ///< of those that know where they are
  std::vector<HostPort> sentinels_;       ///< the one to ask first is first
  std::optional<HostPort> primary_;       ///< as far as is known
  std::optional<Instant> told_at_;        ///< when that was told last
  bool unknown_ = false;                  ///< a sentinel said that it has no such service
  Found found_;
  Moved moved_;
  DiscoveryQuery inquiry_;
  DiscoveryQuery look_again_;  ///< after the watch was interrupted
  std::unique_ptr<Subscriber> watch_;
  HostPort watched_;
  Subscription switches_;
};

}  // namespace w8y::redis
