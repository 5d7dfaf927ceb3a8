// Node of a cluster that receives commands.
#pragma once

#include <functional>

#include "redis/server_client.hpp"

namespace w8y::redis {

namespace detail {
/// Base class, so that the client is created before its listener and destroyed after it.
struct NodeClient {
  ServerClient owned;
};
}  // namespace detail

class ClusterNode final : private detail::NodeClient, private Client::Listener {
 public:
  using Changed = std::function<void(ClusterNode& node)>;

  /// Connects at once. `changed` is called when ready(), error() or refusing() may have changed.
  ClusterNode(loop::Loop& loop, const ClientOptions& of_cluster, const HostPort& where,
              Changed changed);

  const HostPort place;
  const ClientOptions options;
  Client& client;
  std::size_t unanswered = 0;  ///< calls without a reply

  /// Whether the node is reachable and reports that its cluster is usable.
  [[nodiscard]] bool ready() const { return ready_; }
  /// Reason why the node is not ready. Empty during the first attempt to connect.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// First error reply since the node started to refuse all clients. Empty if it does not.
  [[nodiscard]] const std::string& refusing() const { return refusing_; }
  /// Marks the node as not ready. Called when the node has replied CLUSTERDOWN.
  void on_cluster_down(std::string_view reply);
  /// Queries again whether the cluster is usable, if it was not.
  void look_again();

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refusing(const std::string& why) override;
  void on_accepting() override { on_refusing({}); }

  const std::string where_;
  const Changed changed_;
  bool ready_ = false;
  bool queried_ = false;
  std::string error_;
  std::string refusing_;
};

}  // namespace w8y::redis
