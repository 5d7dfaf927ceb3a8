// Error of a call to Redis, for every kind of work.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "redis/reply.hpp"

namespace w8y::store {

/// Returns a duration as an argument of a command: whole milliseconds. Only a zero duration becomes
/// 0.
std::string ms_text(Duration life);

/// Error of a call that failed or whose result is unknown.
struct StoreError {
  bool maybe_done = false;  ///< the call was sent and its reply was lost
  /// Whether the lock is settled, and Redis refused only another part of the settlement.
  bool settled = false;
  bool never = false;  ///< the call is too large to be sent
  /// Error code in the reply; `none` = no reply.
  redis::ErrorCode code = redis::ErrorCode::none;
  std::string why;

  /// Returns whether the error is about keys, such as a wrong type or an ACL, and not about a
  /// server that is unavailable or refuses all commands.
  [[nodiscard]] bool about_keys() const {
    return code != redis::ErrorCode::none && !redis::is_about_server(code);
  }
};

/// Returns the error of a script that could not write a key other than its lock. `refused`: from
/// its reply, "COMMAND: ERROR words"; `done`: whether this host held the lock or key, which is then
/// settled. Otherwise a server that refuses all writes (READONLY) has changed nothing yet, and the
/// call is retried.
StoreError refused_beside(std::string_view refused, bool done);

/// Returns the error in a reply; nullopt if there is none.
std::optional<StoreError> trouble_of(const redis::Answer& answer);

}  // namespace w8y::store
