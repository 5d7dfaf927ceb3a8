// What is known of a cluster, asked again when in doubt.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "redis/discovery.hpp"
#include "redis/discovery_query.hpp"
#include "redis/hash_slots.hpp"

namespace w8y::redis {

/// One node is asked after the other: the one that answered last, all that are known, and those of
/// the URL.
class ClusterView {
 public:
  /// `problem` is empty, or says why nobody has a good answer.
  using Refreshed = std::function<void(const std::string& problem)>;

  ClusterView(loop::Loop& loop, const ClientOptions& options, Refreshed refreshed);

  /// Soon, in pauses that grow to a second while it is asked for again and again.
  void refresh();
  void refresh_now();
  /// A node says that the slot is another's.
  void moved(Slot slot, const HostPort& to) { map_.set(slot, to); }
  /// Whether this one can be reached: those that can't are asked last.
  void reachable(const HostPort& node, bool is);

  /// There has been a good answer.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const SlotMap& map() const { return map_; }

 private:
  [[nodiscard]] std::vector<HostPort> candidates() const;
  std::string judge(const HostPort& asked, const std::vector<ReplyCopy>& answers);
  void over(const std::string& problem);

  loop::Loop& loop_;
  const ClientOptions options_;
  const Refreshed refreshed_;
  bool known_ = false;
  SlotMap map_;
  std::vector<HostPort> answered_;  ///< last
  std::set<HostPort> unreachable_;
  bool again_ = false;  ///< asked for while it was under way
  Duration pause_{};
  Instant last_{};
  Timer timer_;
  DiscoveryQuery inquiry_;
};

/// For subscribers: any node that is part of the cluster.
class ClusterDiscovery final : public Discovery {
 public:
  ClusterDiscovery(loop::Loop& loop, const ClientOptions& options);

  void find(Found found) override;
  void cancel() override { inquiry_.cancel(); }
  void watch(Moved) override {}

 private:
  const ClientOptions options_;
  SlotMap map_;
  HostPort healthy_;
  std::size_t turn_ = 0;  ///< so that a node that answers and is no good isn't taken each time
  Found found_;
  DiscoveryQuery inquiry_;
};

}  // namespace w8y::redis
