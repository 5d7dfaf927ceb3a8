// One Redis and all that the sources on it share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/run_id.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/subscriber.hpp"
#include "store/circular/keys.hpp"
#include "store/circular/shared.hpp"
#include "store/in_doubt_claims.hpp"
#include "store/item_room.hpp"
#include "store/leases.hpp"
#include "store/server_clock.hpp"
#include "store/tracking.hpp"

namespace w8y::store {

namespace detail {
/// Base class that makes the client before the listener on it and destroys it after the listener.
struct ClientOwner {
  std::unique_ptr<redis::Client> owned;
};
}  // namespace detail

/// Held by sources as a shared_ptr: after a reload has replaced a session, it lives until its last
/// run is settled.
class RedisSession final : private detail::ClientOwner, private redis::Client::Listener {
 public:
  /// Name of this host in locks and history.
  struct Holder {
    std::string host;
    int pid = 0;
    std::uint64_t seed = 0;  ///< of run IDs, from the random numbers of the system
    /// Whether other hosts of this name can have the same pid, as in containers. Then a part of the
    /// seed follows the pid.
    bool pid_is_shared = false;
    /// Returns the value of a lock, see running_lock().
    [[nodiscard]] std::string lock(std::string_view run) const;
  };

  RedisSession(loop::Loop& loop, const redis::ClientOptions& options, Holder who);
  ~RedisSession() override;

  /// Called when a reload has replaced this session. A settlement that fails is abandoned one
  /// `key_expiry` after its lease has ended, so that the session does not retry for an unlimited
  /// time. `given_up` is called with each list and its number of abandoned settlements.
  using GivenUp = std::function<void(const std::string& list, std::size_t runs)>;
  void retire(GivenUp given_up) { given_up_ = std::move(given_up); }
  [[nodiscard]] bool retired() const { return static_cast<bool>(given_up_); }
  void give_up(const std::string& list, std::size_t runs) const { given_up_(list, runs); }

  const Clock& clock;
  TimerQueue& timers;
  const Holder holder;
  const std::string user;  ///< Redis user; empty = the default user
  RunIds run_ids;
  redis::Client& client;
  const bool in_cluster;
  redis::Subscriber subscriber;
  ServerClock server_clock;
  Tracking tracking;
  CircularShared circular;
  Leases leases;
  InDoubtClaims in_doubt_claims;
  ItemRoom item_room;

  /// Minimum size of a large call, in bytes read or sent: Redis is busy with it for a noticeable
  /// time.
  static constexpr std::size_t large = std::size_t{64} << 10;
  struct LargeCall {
    Instant sent;
    std::uint64_t commands;
  };
  [[nodiscard]] LargeCall large_call() const { return {clock.now(), client.commands_sent()}; }
  /// Returns whether the next large call may be made. After one, no other is made for twice its
  /// duration if other clients use Redis as well. A large call also causes renewals, settlements
  /// and child input, so this pause leaves others more than half of the capacity.
  [[nodiscard]] bool may_call_large() const { return clock.now() >= large_after_; }
  [[nodiscard]] Instant large_after() const { return large_after_; }
  /// Must be called when the reply to a large call has arrived. `call`: from large_call() before
  /// the call.
  void large_answered(const LargeCall& call);

 private:
  void on_up() override {
    circular.new_connection();
    leases.renew_now();
  }
  void on_down(const std::string&) override {}

  GivenUp given_up_;
  Instant large_after_{};
};

/// Base class that precedes the listener on the connection, so that the connection outlives the
/// listener: a source may be its last user.
struct SessionUser {
  std::shared_ptr<RedisSession> session_;
};

}  // namespace w8y::store
