// Redis for programs that send a command and wait for the reply.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/reply_copy.hpp"

namespace w8y::redis {

/// Error: there is no reply, or the reply is an error. The text is for people.
class RedisError : public std::runtime_error {
 public:
  explicit RedisError(const std::string& what, ErrorCode code = ErrorCode::none)
      : std::runtime_error(what), code_(code) {}
  /// none: there was no reply.
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Returns the reply. Throws RedisError if it is an error.
const ReplyCopy& checked(const ReplyCopy& reply);
ReplyCopy checked(ReplyCopy&& reply);

/// Client that runs the loop until the reply arrives. It connects with the first call. If that
/// fails or the connection is lost, it throws at once: the caller must retry.
class SyncClient {
 public:
  SyncClient(loop::Loop& loop, ClientOptions options);

  /// Returns the reply. Throws RedisError if there is none, and for an error reply.
  ReplyCopy call(const Command& command);
  ReplyCopy run(const Script& script, const Command& keys, const Command& args);
  struct ScriptCall {
    Command keys;
    Command args;
  };
  /// Runs the script once for each of `calls`, all in one write. Throws for the first error reply.
  std::vector<ReplyCopy> run_all(const Script& script, const std::vector<ScriptCall>& calls);
  /// Sends all commands in one write. Error replies are among the values. Throws RedisError if
  /// there is no reply.
  std::vector<ReplyCopy> pipeline(const std::vector<Command>& commands);
  /// Sends all commands as pipeline() does, and throws for the first error reply.
  std::vector<ReplyCopy> call_all(const std::vector<Command>& commands);

  /// Runs the loop until `done` returns true: for code that calls client() itself. Throws
  /// RedisError after give_up().
  void wait_until(const std::function<bool()>& done);

  /// Waits until a lost connection is re-established. False if it cannot be now.
  bool reconnect();

  /// Time at which every wait from now on ends with an error, regardless of the timeouts; nullopt:
  /// none.
  void give_up_at(std::optional<Instant> end);
  /// Makes the current and every later wait throw `why`. For callbacks of the loop.
  void give_up(std::string why) { given_up_ = std::move(why); }

  [[nodiscard]] Client& client() { return *client_; }
  [[nodiscard]] loop::Loop& loop() { return loop_; }

 private:
  struct Gathered;
  Client::Callback gather(const std::shared_ptr<Gathered>& into);
  std::vector<ReplyCopy> wait_for(Gathered& gathered);

  loop::Loop& loop_;
  std::unique_ptr<Client> client_;
  Timer end_;
  std::string given_up_;  ///< text of give_up(); empty: not called
};

}  // namespace w8y::redis
