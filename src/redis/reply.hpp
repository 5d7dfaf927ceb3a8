// One reply of Redis, as a view of the structure of hiredis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/clock.hpp"

struct redisReply;  // of hiredis

namespace w8y::redis {

/// Reply that is valid only during the callback that receives it. If a reply has another type than
/// an accessor expects, the accessor returns 0, "" or no elements, so that an unexpected reply
/// never crashes the program.
class Reply {
 public:
  explicit Reply(const redisReply* reply) : reply_(reply) {}

  [[nodiscard]] bool is_nil() const;
  [[nodiscard]] bool is_error() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_string() const;  ///< bulk or status
  [[nodiscard]] bool is_integer() const;
  [[nodiscard]] std::string_view text() const;  ///< string, status or error
  [[nodiscard]] std::int64_t integer() const;   ///< an integer, or a string that is one
  [[nodiscard]] std::size_t size() const;       ///< elements of an array
  [[nodiscard]] Reply operator[](std::size_t index) const;

 private:
  const redisReply* reply_;  // nullptr: no reply
};

/// Unix time in a reply to TIME; 0 if the reply is not a time.
[[nodiscard]] std::int64_t server_time_us(const Reply& reply);
[[nodiscard]] std::int64_t server_time_us(std::int64_t seconds, std::int64_t us);
[[nodiscard]] WallTime server_time(const Reply& reply);

/// First word of an error reply, for the errors that w8y distinguishes.
enum class ErrorCode {
  none,
  noscript,
  noperm,
  noauth,  ///< NOAUTH, WRONGPASS
  readonly,
  loading,
  oom,
  busy,
  masterdown,
  clusterdown,
  moved,
  ask,
  tryagain,
  misconf,  ///< "cannot persist": the server refuses writes
  noreplicas,
  other,
};
ErrorCode error_code(std::string_view error);
/// Whether the server refuses all clients because of its own state: read-only, loading, out of
/// memory, … False for errors in the command, its keys or its user.
bool is_about_server(ErrorCode code);
/// Returns readonly, masterdown or noauth, also from within a script: w8y cannot use this server
/// while it replies that. Otherwise none.
ErrorCode unfit(std::string_view error);

enum class Failure {
  none,
  not_sent,   ///< the command was not executed
  lost,       ///< the command may have been executed or not
  too_large,  ///< the command is never sent: it was not executed
  /// The reply is longer than the limit. The command was executed, and the connection is closed.
  reply_too_large,
};

struct Answer {
  Failure failure = Failure::none;
  Reply reply{nullptr};
  std::string_view why;  ///< for people; set if there was a failure

  /// Whether there is a reply and it is not an error.
  [[nodiscard]] bool ok() const { return failure == Failure::none && !reply.is_error(); }
  [[nodiscard]] ErrorCode error() const {
    return failure == Failure::none && reply.is_error() ? error_code(reply.text())
                                                        : ErrorCode::none;
  }
  /// Error for people: the failure, or the text of the error reply.
  [[nodiscard]] std::string problem() const;
};

}  // namespace w8y::redis
