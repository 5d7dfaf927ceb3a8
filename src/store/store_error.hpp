// What went wrong with a call to Redis, whatever the kind of work.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "redis/reply.hpp"

namespace w8y::store {

/// What a life is called in a command: whole milliseconds, and 0 only for nothing.
std::string ms_text(Duration life);

/// Redis could not do it, or we don't know whether it did.
struct StoreError {
  bool maybe_done = false;  ///< it was sent, and the answer was lost
  /// The lock is settled; only something that is noted beside it was refused.
  bool settled = false;
  bool never = false;  ///< it is more than can be sent
  /// What Redis answered; none: it could not be asked.
  redis::ErrorCode code = redis::ErrorCode::none;
  std::string why;

  /// Not about a server that is away or refuses everybody: a key of a wrong type, an ACL.
  [[nodiscard]] bool about_keys() const {
    return code != redis::ErrorCode::none && !redis::is_about_server(code);
  }
};

/// A script was refused something beside its lock or key, and says so in its reply: "COMMAND: ERROR
/// words". `done`: the lock or key was ours, and is settled. If it was not, a server that refuses
/// everybody (READONLY) has been told nothing yet: it is asked again.
StoreError refused_beside(std::string_view refused, bool done);

/// Nothing if the answer is good; else what went wrong.
std::optional<StoreError> trouble_of(const redis::Answer& answer);

}  // namespace w8y::store
