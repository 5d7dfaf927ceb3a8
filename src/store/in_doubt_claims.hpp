// Undoes in-doubt claims: Redis may have executed them, but the reply was lost.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "core/clock.hpp"
#include "redis/client.hpp"
#include "store/script_call.hpp"

namespace w8y::store {

/// A claim whose reply was lost may hold locks. When Redis is available again, one call per claim
/// deletes the locks with its run IDs among the last items of the list or the first recorded
/// claims. Any other lock expires, and nothing waits for it.
class InDoubtClaims : private redis::Client::Listener {
 public:
  InDoubtClaims(redis::Client& client, const Clock& clock)
      : Listener(client), clock_(clock), client_(client) {}

  /// Maximum number of items or recorded claims that a call examines.
  static constexpr const char* most_examined = "1024";

  /// Undoes a claim. `until`: time by which its locks have expired.
  void undo(ScriptCall call, Instant until);
  /// Returns the number of in-doubt claims.
  [[nodiscard]] std::size_t size() const { return claims_.size(); }

 private:
  struct InDoubt {
    ScriptCall call;
    Instant until;
  };

  void on_up() override { send(); }
  void on_down(const std::string&) override {}
  void on_accepting() override { send(); }
  void send();

  const Clock& clock_;
  redis::Client& client_;
  std::deque<InDoubt> claims_;
  bool sent_ = false;  ///< the call of the first claim is in flight
};

}  // namespace w8y::store
