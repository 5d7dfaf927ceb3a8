// Connection that is re-established whenever it breaks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "redis/connection.hpp"
#include "redis/discovery.hpp"

namespace w8y::redis {

/// Connection whose pauses between attempts grow from 50 ms. They have a random part, so that the
/// hosts of a fleet do not reconnect at the same time. An unreachable server is tried at least
/// every second: w8yd continues within two seconds after the server is back. A server that refuses
/// the client is tried at least every 5 s. The pauses start again at 50 ms only after a connection
/// that lasted, so that a useless server is not connected to over and over.
class ReconnectingConnection final : private Connection::Handler {
 public:
  enum class State {
    idle,        ///< not started
    connecting,  ///< connecting or in the handshake; the address may not be known yet
    up,
    waiting,  ///< for the next attempt
  };

  /// Handler of the state of the connection. It also receives the replies of each connection.
  class Handler : public Connection::ReplyHandler {
   public:
    virtual void on_link_up() = 0;
    /// Called when an attempt has failed or the connection has ended. The state is waiting.
    virtual void on_link_down(const Connection::End& end) = 0;

   protected:
    ~Handler() = default;
  };

  ReconnectingConnection(loop::Loop& loop, ClientOptions options, Handler& handler);
  /// Connects to the address found by `discovery` instead of that of the URL.
  ReconnectingConnection(loop::Loop& loop, ClientOptions options, Handler& handler,
                         std::unique_ptr<Discovery> discovery);

  /// Makes the first attempt now. Calls no handler before it returns.
  void start();
  /// Makes the next attempt now, if the state is waiting.
  void reconnect_now();
  /// Ends the connection, calls on_link_down(), and reconnects after a pause.
  void drop(const std::string& why);
  /// Accepts only a server that accepts writes from now on.
  void want_primary() { wanted_ = Connection::Wanted::primary; }

  [[nodiscard]] State state() const { return state_; }
  /// Whether the first attempt has not failed yet.
  [[nodiscard]] bool fresh() const { return fresh_; }
  /// nullptr before the start and while waiting.
  [[nodiscard]] Connection* connection() { return connection_.get(); }
  [[nodiscard]] const Connection* connection() const { return connection_.get(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const ClientOptions& options() const { return options_; }

 private:
  void attempt();
  void on_ready() override;
  void on_end(const Connection::End& end) override;
  void wait(bool refused);
  void on_found(const Url* place, const std::string& problem);
  void on_moved(const HostPort& place);

  loop::Loop& loop_;
  const ClientOptions options_;
  Handler& handler_;
  State state_ = State::idle;
  bool fresh_ = true;
  std::string error_;
  Duration pause_{};  // the last one
  Instant up_since_{};
  std::unique_ptr<Discovery> discovery_;  // nullptr: the URL has the address
  Connection::Wanted wanted_;
  HostPort place_;  // address found last
  std::unique_ptr<Connection> connection_;
  std::vector<std::unique_ptr<Connection>> dead_;  // they may be in their own callbacks
  Timer timer_;
  loop::Loop::BeforeWait sweep_;
};

}  // namespace w8y::redis
