// One connection, from the connect to its end: handshake, pipelined commands, close.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "redis/command.hpp"
#include "redis/options.hpp"
#include "redis/reader.hpp"
#include "redis/reply.hpp"
#include "redis/transport.hpp"

namespace w8y::redis {

/// Connection whose handshake is AUTH, SELECT, ROLE and PING, as far as needed. A server that is
/// loading, is full or refuses the client replies to the handshake with an error. The name of the
/// client and of its library follow in the same write, and an error in reply to them is ignored.
/// Output of one loop iteration leaves in one write. Output may be appended from the start. It is
/// sent right behind the handshake if the handshake can neither be refused nor change the database,
/// otherwise after the handshake is accepted.
class Connection final : private Transport::Handler {
 public:
  enum class State {
    connecting,  ///< resolving the address or connecting the transport
    shaking,     ///< the handshake is in flight
    up,          ///< the handshake is accepted
    down,        ///< ended: broken, refused or closed
  };

  struct End {
    std::string why;         ///< for people
    bool refused = false;    ///< Redis refuses the client: wrong password, no permission
    bool untouched = false;  ///< the server has executed no command of this connection
    bool too_large = false;  ///< the reply that was being read was too large
    std::uint64_t sent = 0;  ///< Connection::sent() at the end
  };

  class ReplyHandler {
   public:
    /// Called for each reply after those to the handshake, in order.
    virtual void on_reply(const Reply& reply) = 0;

   protected:
    ~ReplyHandler() = default;
  };

  class Handler {
   public:
    virtual void on_ready() = 0;
    /// Called when the connection has ended; no call follows. Never called from inside a function
    /// of the connection, except drop().
    virtual void on_end(const End& end) = 0;

   protected:
    ~Handler() = default;
  };

  /// Maximum output that the server has not accepted. Beyond it the connection is closed.
  static constexpr std::size_t max_output = std::size_t{64} << 20;

  enum class Wanted { any, primary };

  /// Creates a connection that waits for connect(); connect_timeout counts from now. `password` is
  /// that of options.url.user, or of the default user. `wanted` = primary sends ROLE and rejects a
  /// replica.
  Connection(loop::Loop& loop, const ClientOptions& options, const Secret& password, Wanted wanted,
             Handler& handler, ReplyHandler& replies);
  /// Connects to the URL of one server. Called once.
  void connect(const Url& place);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] State state() const { return state_; }
  /// Buffer to which whole commands are appended; call appended() after that.
  [[nodiscard]] std::string& output();
  /// Position in the byte stream up to which output has been appended.
  [[nodiscard]] std::uint64_t end_of_output() const { return sent_ + pending(); }
  /// Position in the byte stream up to which output has been sent.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  /// Whether output may be appended. False: the server has left too much unread, and the connection
  /// is closed at the end of the loop iteration. A sequence of commands never continues after a
  /// gap.
  [[nodiscard]] bool has_room();

  /// Bytes that the server has not accepted yet.
  [[nodiscard]] std::size_t pending() const { return out_.size() - out_at_ + held_.size(); }

  /// Ends the connection now, and calls the handler if it has not ended yet.
  void drop(const std::string& why);

 private:
  void append_handshake(const Secret& password, Wanted wanted);
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override;
  void on_broken(const std::string& why) override;
  void handle(const Reply& reply);
  void handle_handshake(const Reply& reply);
  void flush();
  void end(End end);

  loop::Loop& loop_;
  const ClientOptions options_;
  std::string where_;
  Handler& handler_;
  ReplyHandler& replies_;
  State state_ = State::connecting;
  std::unique_ptr<Transport> transport_;
  Reader reader_;
  std::string out_;         // being sent
  std::size_t out_at_ = 0;  // bytes of out_ that have been sent
  std::string held_;        // waits for the handshake
  bool hold_ = false;
  bool secret_ = false;  // out_ holds a password, and nothing behind the handshake
  bool clogged_ = false;
  bool blocked_ = false;  // the transport calls back when there is room
  int expected_ = 0;      // replies to the handshake
  bool role_ = false;     // the last but one of them is the reply to ROLE
  int unwanted_ = 0;      // replies to commands of the connection itself after the handshake
  std::uint64_t sent_ = 0;
  Instant deadline_;
  Timer timer_;
  loop::Loop::BeforeWait flush_;
};

}  // namespace w8y::redis
