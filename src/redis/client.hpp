// Client of Redis that reconnects whenever its connection breaks. For a cluster, it has a
// connection to each node that it needs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redis/command.hpp"
#include "redis/listener_list.hpp"
#include "redis/options.hpp"
#include "redis/reply.hpp"
#include "redis/script.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

/// Client that sends all calls of one loop iteration in one write, in order.
/// Each call gets exactly one reply, in order, and never from inside call():
///  - the reply of Redis, which may be an error reply;
///  - Failure::not_sent if there is no connection: the command was not executed;
///  - Failure::too_large if a single command has more than 64 MiB: it was not executed;
///  - Failure::reply_too_large if the reply has more than ClientOptions::max_reply. The client then
///    closes the connection;
///  - Failure::lost if the connection broke or timed out after the command was sent: the command
///    may have been executed or not.
///
/// Calls made during the first connection attempt wait for it, and are sent right behind the
/// handshake. Later, calls made while there is no connection get not_sent.
///
/// The client closes the connection, reads the password file again and reconnects in these cases:
///  - the server leaves 64 MiB of commands unread;
///  - the server does not reply to a command within command_timeout;
///  - the server replies that it is a replica or no longer accepts the login (READONLY, MASTERDOWN,
///    NOAUTH). If it was a replica, the next connection must be to a primary.
///
/// A cluster accepts the same commands as one server, with these differences:
///  - replies are in order among the calls of one hash slot only;
///  - the first key of a command determines its node. A command without a key goes to the node of
///    the command before it;
///  - the commands from MULTI to EXEC go to one node together;
///  - the client follows redirections. A node that is unavailable causes not_sent or lost, as with
///    one server.
///
/// The destructor drops calls without a reply and does not call their callbacks. A client must not
/// be destroyed in one of its own callbacks.
class Client {
 public:
  using Callback = std::function<void(const Answer&)>;

  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Returns a client of the server or the cluster that the URL names.
  static std::unique_ptr<Client> open(loop::Loop& loop, ClientOptions options);

  virtual void call(const Command& command, Callback callback) = 0;
  /// Runs a script in one round trip. The first call on a connection is EVAL, since the server may
  /// not have cached the script. Later calls are EVALSHA, and EVAL again after NOSCRIPT. That EVAL
  /// is sent behind calls made meanwhile, so run() must not be used inside MULTI. The script must
  /// outlive the client. If a reply does not name this call, the client discards it and all replies
  /// behind it: pending calls are lost, and the client reconnects.
  virtual void run(const Script& script, const Command& keys, const Command& args,
                   Callback callback) = 0;
  /// Calls without a callback: the reply is ignored.
  void call(const Command& command) { call(command, {}); }
  /// Sends two commands to the same server, the second one directly after the first one. A cluster
  /// chooses the server by the key of the second one, and does not send them again.
  virtual void call_both(const Command& first, Callback of_first, const Command& second,
                         Callback of_second) {
    call(first, std::move(of_first));
    call(second, std::move(of_second));
  }

  [[nodiscard]] virtual bool connected() const = 0;
  /// Reason why there is no connection. Empty while there is a connection, and during the first
  /// attempt.
  [[nodiscard]] virtual const std::string& error() const = 0;
  /// Number of commands sent since the client was created, for the idle budget and for metrics.
  [[nodiscard]] virtual std::uint64_t commands_sent() const = 0;
  /// Bytes that Redis has not accepted yet. More than one loop iteration produces means that Redis
  /// is slower than this process.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Makes the next attempt now instead of after the pause.
  virtual void reconnect_now() = 0;

  /// Receives the servers of a cluster to which the client connects.
  class NodeListener {
   public:
    virtual ~NodeListener() = default;
    /// `node`: the client of this server, which lives until on_node_removed(). `options`: those of
    /// its connections.
    virtual void on_node(Client& node, const ClientOptions& options) = 0;
    virtual void on_node_removed(Client& node) = 0;
    /// Called when a hash slot in use is on another server than before.
    virtual void on_slots_moved() = 0;
  };
  /// Sets the listener, and calls it for each server that exists already; nullptr: none. A client
  /// of one server never calls it.
  virtual void listen_to_nodes(NodeListener* /*listener*/) {}
  /// Returns the client of the server that has this key; nullptr: none is known.
  [[nodiscard]] virtual Client* node_of(std::string_view /*key*/) { return this; }

  /// Receives every change of the connection until the listener is destroyed: each new connection,
  /// its end, and, while there is none, each new reason. A connection is up when its handshake
  /// (AUTH, SELECT) has been accepted. Pending calls get their replies before on_down(). A cluster
  /// is up while reachable nodes serve the hash slots of all keys used so far. It goes down with
  /// the first hash slot that is not served, and up when all are served again.
  class Listener {
   public:
    explicit Listener(Client& client) : client_(client), place_(client.listeners_.add(this)) {}
    virtual ~Listener() { client_.listeners_.remove(place_); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   protected:
    virtual void on_up() = 0;
    virtual void on_down(const std::string& why) = 0;
    /// Called when the server is reachable but has started to refuse all clients (out of memory,
    /// read-only, …). `why` is its first error reply. Called once until on_accepting() or
    /// on_down().
    virtual void on_refusing(const std::string& /*why*/) {}
    virtual void on_accepting() {}

   private:
    friend class Client;
    Client& client_;
    ListenerList<Listener>::Place place_;
  };

 protected:
  Client() = default;
  // Only Client may call the functions of a Listener.
  static void notify_up(Listener& listener) { listener.on_up(); }
  static void notify_down(Listener& listener, const std::string& why) { listener.on_down(why); }
  static void notify_refusing(Listener& listener, const std::string& why) {
    listener.on_refusing(why);
  }
  static void notify_accepting(Listener& listener) { listener.on_accepting(); }

  ListenerList<Listener> listeners_;
};

}  // namespace w8y::redis
