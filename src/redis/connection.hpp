// One life of a connection: connect, handshake, pipelined commands, end.
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

/// The handshake is AUTH, SELECT, ROLE and PING, as far as needed; a server that is loading,
/// refuses us or is full answers it with an error. What is appended to the output in one turn of
/// the loop leaves in one write. Output may be appended from the start: it travels right behind the
/// handshake if that can neither refuse us nor change the database, else once it is accepted.
class Connection final : private Transport::Handler {
 public:
  enum class State {
    connecting,  ///< the place is looked for, or the transport is being made
    shaking,     ///< the handshake is under way
    up,          ///< accepted
    down,        ///< the end: broken, refused or closed
  };

  struct End {
    std::string why;         ///< for people
    bool refused = false;    ///< Redis does not want us: wrong password, no permission
    bool untouched = false;  ///< nothing that was sent has been carried out
    bool too_large = false;  ///< the reply that was being read is
    std::uint64_t sent = 0;  ///< Connection::sent() at the end
  };

  class Handler {
   public:
    virtual void on_ready() = 0;
    /// Replies beyond the handshake's, in order.
    virtual void on_reply(const Reply& reply) = 0;
    /// Nothing comes after this. Not told from inside the connection's own functions but drop().
    virtual void on_end(const End& end) = 0;

   protected:
    ~Handler() = default;
  };

  /// Output that the server hasn't taken; beyond it the connection is dropped.
  static constexpr std::size_t max_output = std::size_t{64} << 20;

  enum class Wanted { any, primary };

  /// Waits for connect(), and connect_timeout runs already. `password`: of options.url.user, or of
  /// the default user. `wanted`: primary asks ROLE, and doesn't take a replica.
  Connection(loop::Loop& loop, const ClientOptions& options, const Secret& password, Wanted wanted,
             Handler& handler);
  /// To a server's own URL; once.
  void connect(const Url& place);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] State state() const { return state_; }
  /// Where to append whole commands; follow with appended().
  [[nodiscard]] std::string& output();
  /// The place in the stream of bytes up to which output has been appended.
  [[nodiscard]] std::uint64_t end_of_output() const { return sent_ + pending(); }
  /// The place up to which it has been sent.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  /// False: the server has left too much unread. Nothing more is to be appended, and the connection
  /// is dropped at the end of the turn: a sequence of commands never goes on after a gap.
  [[nodiscard]] bool has_room();

  /// Bytes that the server hasn't taken yet.
  [[nodiscard]] std::size_t pending() const { return out_.size() - out_at_ + held_.size(); }

  /// Ends it now, and tells the handler if it has not ended yet.
  void drop(const std::string& why);

 private:
  void append_handshake(const Secret& password, Wanted wanted);
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_room() override;
  void on_broken(const std::string& why) override;
  void take(const Reply& reply);
  void take_handshake(const Reply& reply);
  void flush();
  void end(End end);

  loop::Loop& loop_;
  const ClientOptions options_;
  std::string where_;
  Handler& handler_;
  State state_ = State::connecting;
  std::unique_ptr<Transport> transport_;
  Reader reader_;
  std::string out_;         // being sent
  std::size_t out_at_ = 0;  // how much of it has been sent
  std::string held_;        // waits for the handshake
  bool hold_ = false;
  bool secret_ = false;  // out_ holds a password, and nothing behind the handshake
  bool clogged_ = false;
  bool blocked_ = false;  // the transport will say when there is room
  int expected_ = 0;      // handshake replies
  bool role_ = false;     // the last but one of them says what the server is
  int unwanted_ = 0;      // replies to what we sent on our own account after it
  std::uint64_t sent_ = 0;
  Instant deadline_;
  Timer timer_;
  loop::Loop::BeforeWait flush_;
};

}  // namespace w8y::redis
