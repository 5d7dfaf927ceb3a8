// Known state of a cluster, refreshed when in doubt.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "redis/discovery.hpp"
#include "redis/discovery_query.hpp"
#include "redis/hash_slots.hpp"

namespace w8y::redis {

/// Queries one node after the other: first the node that replied last, then all known nodes, then
/// the nodes of the URL.
class ClusterView {
 public:
  /// `problem` is empty, or the reason why no node gave a usable reply.
  using Refreshed = std::function<void(const std::string& problem)>;

  ClusterView(loop::Loop& loop, const ClientOptions& options, Refreshed refreshed);

  /// Refreshes soon. While refreshes are requested repeatedly, the pause between them grows to 1 s.
  void refresh();
  void refresh_now();
  /// Records that a node has reported the new primary of a hash slot.
  void moved(Slot slot, const HostPort& to) { map_.set(slot, to); }
  /// Records whether a node is reachable. Unreachable nodes are queried last.
  void reachable(const HostPort& node, bool is);

  /// Whether a node has given a usable reply.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] const SlotMap& map() const { return map_; }

 private:
  [[nodiscard]] std::vector<HostPort> candidates() const;
  std::string classify(const HostPort& asked, const std::vector<ReplyCopy>& answers);
  void finish(const std::string& problem);

  loop::Loop& loop_;
  const ClientOptions options_;
  const Refreshed refreshed_;
  bool known_ = false;
  SlotMap map_;
  std::vector<HostPort> replied_;  ///< node that replied last
  std::set<HostPort> unreachable_;
  bool again_ = false;  ///< requested during a refresh
  Duration pause_{};
  Instant last_{};
  Timer timer_;
  DiscoveryQuery inquiry_;
};

/// Discovery for subscribers: finds any node that is part of the cluster.
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
  std::size_t turn_ = 0;  ///< next candidate, so that an unusable node is not chosen each time
  Found found_;
  DiscoveryQuery inquiry_;
};

}  // namespace w8y::redis
