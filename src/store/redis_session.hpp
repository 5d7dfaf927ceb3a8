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
#include "store/item_room.hpp"
#include "store/keyspace_events.hpp"
#include "store/leases.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

namespace detail {
/// A base class, so that the client is there before the listener on it, and goes after it.
struct ClientOwner {
  redis::Client owned;
};
}  // namespace detail

/// Sources hold it by shared_ptr: a connection that was replaced at a reload lives until its last
/// run is settled.
class RedisSession final : private detail::ClientOwner, private redis::Client::Listener {
 public:
  /// Who we are in locks and history.
  struct Holder {
    std::string host;
    int pid = 0;
    std::uint64_t seed = 0;  ///< of run ids: from the system's randomness
    /// Other hosts of this name can have the pid, as in containers: part of the seed stands behind
    /// it.
    bool pid_is_shared = false;
    /// The value of a lock, see running_lock().
    [[nodiscard]] std::string lock(std::string_view run) const;
  };

  RedisSession(loop::Loop& loop, const redis::ClientOptions& options, Holder who);
  ~RedisSession() override;

  /// A reload has put another in its place. What can't be settled is given up a `key_expiry` after
  /// its lease ended, so that nobody tries this server for ever; `settlement_abandoned` is told
  /// each time how many runs that were, and of which list.
  using GivenUp = std::function<void(const std::string& list, std::size_t runs)>;
  void retire(GivenUp given_up) { given_up_ = std::move(given_up); }
  [[nodiscard]] bool retired() const { return static_cast<bool>(given_up_); }
  void give_up(const std::string& list, std::size_t runs) const { given_up_(list, runs); }

  const Clock& clock;
  TimerQueue& timers;
  const Holder holder;
  const std::string user;  ///< Redis user; empty: the default user
  RunIds run_ids;
  redis::Client& client;
  redis::Subscriber subscriber;
  ServerClock server_clock;
  CircularShared circular;
  Leases leases;
  KeyspaceEvents keyspace_events;
  ItemRoom item_room;

  /// A call that reads or carries so much keeps Redis busy for a while.
  static constexpr std::size_t large = std::size_t{64} << 10;
  struct LargeCall {
    Instant sent;
    std::uint64_t commands;
  };
  [[nodiscard]] LargeCall large_call() const { return {clock.now(), client.commands_sent()}; }
  /// Whether the next large call may be made: where others want Redis too, it is left to them for
  /// twice as long as the last one took. What it sets off besides (renewals, ends, what children
  /// are given) takes its time too, so that others keep more than half of what they have alone.
  [[nodiscard]] bool may_call_large() const { return clock.now() >= large_after_; }
  [[nodiscard]] Instant large_after() const { return large_after_; }
  /// `call` has been answered; large_call() was asked before it was made.
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

/// A base class, before that of the listener on the connection, so that the connection outlives the
/// listener: a source may be its last user.
struct SessionUser {
  std::shared_ptr<RedisSession> session_;
};

}  // namespace w8y::store
