// One reply of Redis, as a view of hiredis's own structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/clock.hpp"

struct redisReply;  // hiredis's

namespace w8y::redis {

/// Valid only during the callback that was given it. The accessors are total: asked for what it is
/// not, a reply gives 0, "" or no elements, so that an unexpected reply is never a crash.
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
  const redisReply* reply_;  // nullptr: nothing
};

/// Unix time, from a reply to TIME; 0 if the reply is no time.
[[nodiscard]] std::int64_t server_time_us(const Reply& reply);
[[nodiscard]] std::int64_t server_time_us(std::int64_t seconds, std::int64_t us);
[[nodiscard]] WallTime server_time(const Reply& reply);

/// The first word of an error reply, as far as it makes a difference to us.
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
  misconf,  ///< "can't persist": writes are refused
  noreplicas,
  other,
};
ErrorCode error_code(std::string_view error);
/// The server is in trouble, and refuses everybody: read-only, loading, out of memory, … Not a
/// mistake in the command, its keys or its user.
bool is_about_server(ErrorCode code);
/// readonly, masterdown or noauth, also from within a script: this server is of no use to us while
/// it is so. Otherwise none.
ErrorCode unfit(std::string_view error);

enum class Failure {
  none,
  not_sent,   ///< nothing has happened
  lost,       ///< it may have been carried out or not
  too_large,  ///< to be sent at any time: nothing has happened
  /// Its reply is more than is read: it was carried out, and the connection is lost.
  reply_too_large,
};

struct Answer {
  Failure failure = Failure::none;
  Reply reply{nullptr};
  std::string_view why;  ///< for people, if there was a failure

  /// There is a reply and it is no error.
  [[nodiscard]] bool ok() const { return failure == Failure::none && !reply.is_error(); }
  [[nodiscard]] ErrorCode error() const {
    return failure == Failure::none && reply.is_error() ? error_code(reply.text())
                                                        : ErrorCode::none;
  }
  /// What went wrong, for people: the failure, or the error reply's text.
  [[nodiscard]] std::string problem() const;
};

}  // namespace w8y::redis
