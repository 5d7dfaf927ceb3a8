// Redis for programs that ask, wait and go on.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

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

  /// Waits for a connection that was lost to be made again. False: it can't be now.
  bool reconnect();

  [[nodiscard]] Client& client() { return client_; }

 private:
  loop::Loop& loop_;
  Client client_;
};

}  // namespace w8y::redis
