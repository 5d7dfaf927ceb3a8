// Client of one server.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/reconnecting_connection.hpp"
#include "redis/server_errors.hpp"

namespace w8y::redis {

class ServerClient final : public Client, private ReconnectingConnection::Handler {
 public:
  ServerClient(loop::Loop& loop, ClientOptions options);

  using Client::call;
  void call(const Command& command, Callback callback) override;
  void run(const Script& script, const Command& keys, const Command& args,
           Callback callback) override;
  [[nodiscard]] bool connected() const override {
    return link_.state() == ReconnectingConnection::State::up;
  }
  [[nodiscard]] const std::string& error() const override { return link_.error(); }
  [[nodiscard]] std::uint64_t commands_sent() const override { return commands_; }
  [[nodiscard]] std::size_t unsent() const override;
  void reconnect_now() override { link_.reconnect_now(); }

 private:
  struct Call {
    Callback callback;
    std::uint64_t end;  // its end position in the output of the connection
    Instant since;
    std::int64_t name;  // of the call of a script; 0: not a script
  };
  /// Call that failed without being sent; its callback is called from the loop.
  struct NotSent {
    Callback callback;
    std::string why;  // empty: the error at the time of the callback
    Failure failure = Failure::not_sent;
  };

  std::string* accept(Callback& callback, std::size_t bytes);
  void accepted(Callback callback, std::int64_t name = 0);
  void refuse(Callback& callback, std::string why, Failure failure = Failure::not_sent);
  /// `rest` has the keys and arguments, and the name of the call.
  void eval(const Script& script, const std::string& rest, std::size_t words, std::int64_t name,
            Callback callback);
  void on_link_up() override;
  void on_reply(const Reply& reply) override;
  void on_link_down(const Connection::End& end) override;
  void leave(const Reply& error);
  void distrust();
  void watch_timeout();
  void on_timeout();
  void answer_not_sent();

  loop::Loop& loop_;
  const bool scripts_are_known_;  // each is called by its hash, the first time as well
  ReconnectingConnection link_;
  std::deque<Call> calls_;  // without a reply, oldest first
  Timer timeout_;
  bool suspected_ = false;  // the oldest call is late
  std::vector<NotSent> refused_;
  ServerErrors refusing_;
  Timer not_sent_;
  std::vector<const Script*> known_;  // scripts sent on this connection
  std::uint64_t commands_ = 0;
  std::int64_t last_name_ = 0;
  Timer leaving_;            // the client leaves this server
  bool distrusted_ = false;  // all replies are discarded until the next connection
  std::string reported_;     // reason for being down that the listeners received last
};

}  // namespace w8y::redis
