// A set of queries that is sent to several servers until one gives a usable reply.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/connection.hpp"
#include "redis/reply_copy.hpp"

namespace w8y::redis {

/// Queries one server after the other, each over its own connection and for its share of
/// connect_timeout. It makes no callback from inside its own functions. A callback may start the
/// next query and must not destroy the object.
class DiscoveryQuery final : private Connection::Handler, private Connection::ReplyHandler {
 public:
  using Questions = std::vector<std::vector<std::string>>;
  /// Checks the replies of a server, error replies included. Returns the problem; empty if the
  /// replies are usable.
  using Judge =
      std::function<std::string(const HostPort& asked, const std::vector<ReplyCopy>& answers)>;
  /// Called at the end of the query. `problem` is that of the server queried last; empty if a reply
  /// was usable.
  using Over = std::function<void(const std::string& problem)>;

  /// `options` has the login and TLS settings of the servers.
  DiscoveryQuery(loop::Loop& loop, ClientOptions options, Questions questions, Judge judge,
                 Over over);

  /// Queries the servers at `places`, at least one. Cancels a query in flight.
  void begin(std::vector<HostPort> places);
  void cancel();
  [[nodiscard]] bool under_way() const { return under_way_; }

 private:
  void query_next();
  void on_ready() override {}
  void on_reply(const Reply& reply) override;
  void on_end(const Connection::End& end) override;
  void failed(const std::string& problem);
  void close();
  void end(const std::string& problem);

  loop::Loop& loop_;
  const ClientOptions options_;
  const Questions questions_;
  const Judge classify_;
  const Over done_;
  bool under_way_ = false;
  std::vector<HostPort> places_;
  std::size_t next_ = 0;  ///< index in places_
  std::vector<ReplyCopy> replies_;
  std::unique_ptr<Connection> connection_;
  std::vector<std::unique_ptr<Connection>> dead_;  ///< they may be in their own callbacks
  Timer timer_;
  loop::Loop::BeforeWait sweep_;
};

}  // namespace w8y::redis
