// Redis for programs that ask, wait and go on.
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

/// There is no answer, or Redis's answer is an error; the text is for people.
class RedisError : public std::runtime_error {
 public:
  explicit RedisError(const std::string& what, ErrorCode code = ErrorCode::none)
      : std::runtime_error(what), code_(code) {}
  /// none: there was no answer.
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Returns the reply; throws RedisError if it is an error.
const ReplyCopy& checked(const ReplyCopy& reply);
ReplyCopy checked(ReplyCopy&& reply);

/// Runs the loop until the answer is there. Connects with the first question, and if that fails,
/// or the connection is lost, throws at once: trying again is for the caller.
class SyncClient {
 public:
  SyncClient(loop::Loop& loop, ClientOptions options);

  /// Throws RedisError without an answer, and for an error reply.
  ReplyCopy call(const Command& command);
  ReplyCopy run(const Script& script, const Command& keys, const Command& args);
  struct ScriptCall {
    Command keys;
    Command args;
  };
  /// The same, all in one write; throws for the first error reply.
  std::vector<ReplyCopy> run_all(const Script& script, const std::vector<ScriptCall>& calls);
  /// All in one write. Error replies are among the values; throws RedisError without an answer.
  std::vector<ReplyCopy> pipeline(const std::vector<Command>& commands);
  /// As pipeline(), but throws for the first error reply.
  std::vector<ReplyCopy> call_all(const std::vector<Command>& commands);

  /// Runs the loop until `done`: for code that calls client() itself. Throws RedisError when it is
  /// given up.
  void wait_until(const std::function<bool()>& done);

  /// Waits for a connection that was lost to be made again. False: it can't be now.
  bool reconnect();

  /// What is waited for from now on is given up at this time, whatever the timeouts; nullopt: not.
  void give_up_at(std::optional<Instant> end);
  /// In a callback of the loop: what is waited for throws with this text, now and from now on.
  void give_up(std::string why) { given_up_ = std::move(why); }

  [[nodiscard]] Client& client() { return client_; }
  [[nodiscard]] loop::Loop& loop() { return loop_; }

 private:
  struct Gathered;
  Client::Callback gather(const std::shared_ptr<Gathered>& into);
  std::vector<ReplyCopy> wait_for(Gathered& gathered);

  loop::Loop& loop_;
  Client client_;
  Timer end_;
  std::string given_up_;  ///< why; empty: it is not
};

}  // namespace w8y::redis
