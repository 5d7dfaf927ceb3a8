// A node of a cluster that commands are sent to.
#pragma once

#include <functional>

#include "redis/client.hpp"

namespace w8y::redis {

namespace detail {
/// A base class, so that the client is there before the listener on it, and goes after it.
struct NodeClient {
  Client owned;
};
}  // namespace detail

class ClusterNode final : private detail::NodeClient, private Client::Listener {
 public:
  using Changed = std::function<void(ClusterNode& node)>;

  /// Connects at once. `changed`: ready(), error() or refusing() may have changed.
  ClusterNode(loop::Loop& loop, const ClientOptions& options, const HostPort& where,
              Changed changed);

  const HostPort place;
  Client& client;
  std::size_t unanswered = 0;  ///< calls

  /// It can be reached, and says that its cluster can be used.
  [[nodiscard]] bool ready() const { return ready_; }
  /// Why not; empty while it is only just being connected to.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Its first reply, while it refuses everybody; empty: it doesn't.
  [[nodiscard]] const std::string& refusing() const { return refusing_; }
  /// It has answered CLUSTERDOWN.
  void on_cluster_down(std::string_view reply);
  /// Asks again whether its cluster can be used, if it can't as far as is known.
  void look_again();

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void on_refusing(const std::string& why) override;
  void on_accepting() override { on_refusing({}); }

  const std::string where_;
  const Changed changed_;
  bool ready_ = false;
  bool asked_ = false;
  std::string error_;
  std::string refusing_;
};

}  // namespace w8y::redis
