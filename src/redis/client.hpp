// Commands to Redis, over a connection that is made again whenever it breaks; in a cluster, over
// one to each node that is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "redis/command.hpp"
#include "redis/options.hpp"
#include "redis/reply.hpp"
#include "redis/script.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

/// What all the calls of one turn of the loop have gathered is sent in one write, in order. Each
/// call is answered exactly once, in order, and never from inside call():
///  - with Redis's reply, error replies included;
///  - Failure::not_sent, if there is no connection: nothing has happened;
///  - Failure::too_large, if a single command has more than 64 MiB: nothing has happened;
///  - Failure::reply_too_large, if its reply has more than ClientOptions::max_reply: that costs the
///    connection;
///  - Failure::lost, if the connection broke or timed out after the command was sent: it may have
///    been carried out or not.
/// Calls made while the very first connect is under way wait for it, and travel right behind the
/// handshake; later, while there is no connection, they are answered not_sent.
/// A server that leaves 64 MiB of commands unread is given up on, as is one that leaves a command
/// unanswered for command_timeout, and one that answers that it is a replica or doesn't know us any
/// more (READONLY, MASTERDOWN, NOAUTH): the connection is dropped and made anew, with the password
/// file read again, and to a primary if it was a replica.
/// A cluster takes commands as one server does, but for these: a call is answered in order among
/// those of its slot; a command goes by its first key, one without a key where the one before it
/// went; the commands from MULTI to EXEC go to one node together. Redirections are followed; that a
/// node is away is not_sent or lost, as with one server.
/// Destroying the client drops what is unanswered without calling back; it must not be destroyed in
/// one of its own callbacks.
class Client {
 public:
  using Callback = std::function<void(const Answer&)>;

  Client(loop::Loop& loop, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void call(const Command& command, Callback callback);
  /// The first use on a connection is EVAL, so it takes one round trip whatever the server has
  /// cached; then EVALSHA, and EVAL again after NOSCRIPT (behind what was called meanwhile, so not
  /// for use inside MULTI). The script must outlive the client. A reply that does not name this
  /// call is not believed, nor any behind it: what is unanswered is lost, and the connection is
  /// made anew.
  void run(const Script& script, const Command& keys, const Command& args, Callback callback);
  /// Nobody wants the reply.
  void call(const Command& command);

  [[nodiscard]] bool connected() const;
  /// Why there is no connection; empty while there is one, and while the first is being made.
  [[nodiscard]] const std::string& error() const;
  /// Commands sent since the client was made, for the idle budget and for metrics.
  [[nodiscard]] std::uint64_t commands_sent() const;
  /// Bytes that Redis has not taken yet: beyond a turn's worth, it is slower than we are.
  [[nodiscard]] std::size_t unsent() const;
  /// The next attempt is made now instead of after the pause.
  void reconnect_now();

  /// Told of every change, until it is destroyed: of each new connection, of its end, and, while
  /// there is none, of each new reason. The connection counts as up when its handshake (AUTH,
  /// SELECT) has been accepted. What is unanswered is answered before the end is told.
  /// A cluster is up while the slots of all keys that were ever named are served by nodes that can
  /// be reached: it goes down with the first that can't, and comes up when all can again.
  class Listener {
   public:
    explicit Listener(Client& client);
    virtual ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   protected:
    virtual void on_up() = 0;
    virtual void on_down(const std::string& why) = 0;
    /// The server can be reached, but has begun to refuse everybody (out of memory, read-only, …):
    /// `why` is its first error reply. Told once, until on_accepting() or on_down().
    virtual void on_refusing(const std::string& /*why*/) {}
    virtual void on_accepting() {}

   private:
    friend class Client;
    Client& client_;
    std::list<Listener*>::iterator place_;
  };

 private:
  friend class ServerClient;
  friend class ClusterClient;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::redis
