// A connection that is made again whenever it breaks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "redis/connection.hpp"
#include "redis/discovery.hpp"

namespace w8y::redis {

/// The pauses between attempts grow from 50 ms, with a random part so that a fleet doesn't come
/// back as one. A server that is not there is asked at least every second: work goes on within
/// two seconds of its return. One that refuses us is asked every five at most. They begin anew
/// after a connection that lasted, so that one that is of no use isn't made again and again.
class ReconnectingConnection final : private Connection::Handler {
 public:
  enum class State {
    idle,        ///< not started
    connecting,  ///< there is a connection, not accepted yet; its place may not be known yet
    up,
    waiting,  ///< for the next attempt
  };

  class Handler {
   public:
    virtual void on_link_up() = 0;
    virtual void on_link_reply(const Reply& reply) = 0;
    /// An attempt has failed or the connection has ended; the state is waiting.
    virtual void on_link_down(const Connection::End& end) = 0;

   protected:
    ~Handler() = default;
  };

  ReconnectingConnection(loop::Loop& loop, ClientOptions options, Handler& handler);
  /// Where it is told to by `discovery`, not by the URL.
  ReconnectingConnection(loop::Loop& loop, ClientOptions options, Handler& handler,
                         std::unique_ptr<Discovery> discovery);

  /// The first attempt, now. Nothing is told from inside.
  void start();
  /// Waiting: the next attempt, now.
  void reconnect_now();
  /// Ends the connection, which is told, and makes a new one after a pause.
  void drop(const std::string& why);
  /// From now on only a server that takes writes will do.
  void want_primary() { wanted_ = Connection::Wanted::primary; }

  [[nodiscard]] State state() const { return state_; }
  /// The first attempt has not failed yet.
  [[nodiscard]] bool fresh() const { return fresh_; }
  /// Null before the start and while waiting.
  [[nodiscard]] Connection* connection() { return connection_.get(); }
  [[nodiscard]] const Connection* connection() const { return connection_.get(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const ClientOptions& options() const { return options_; }

 private:
  void attempt();
  void on_ready() override;
  void on_reply(const Reply& reply) override;
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
  std::unique_ptr<Discovery> discovery_;  // null: the URL says where
  Connection::Wanted wanted_;
  HostPort place_;  // what was found last
  std::unique_ptr<Connection> connection_;
  std::vector<std::unique_ptr<Connection>> dead_;  // they may be in their own callbacks
  Timer timer_;
  loop::Loop::BeforeWait sweep_;
};

}  // namespace w8y::redis
