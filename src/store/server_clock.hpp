// Detects jumps of the Redis clock.
#pragma once

#include <memory>
#include <optional>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "redis/listener_list.hpp"

namespace w8y::store {

/// Compares the clock of Redis at least every two seconds with a clock that does not jump: by the
/// times in replies to renewals, and by TIME when there are none.
/// Does not watch a cluster, which has several clocks.
class ServerClock {
 public:
  static constexpr Duration interval = std::chrono::seconds(2);
  /// Maximum difference between two replies that is not a jump.
  static constexpr Duration tolerance = std::chrono::seconds(2);
  /// Maximum round trip of a reply that is compared. The time in a slower reply is uncertain.
  static constexpr Duration longest_trip = std::chrono::seconds(1);

  struct Jump {
    Duration by{0};  ///< below 0: the clock was set back
    Instant noticed{};
    Instant before{};  ///< last reply before the jump
  };

  /// A listener is registered from its construction to its destruction.
  class Listener {
   public:
    explicit Listener(ServerClock& clock) : clock_(clock), place_(clock.listeners_.add(this)) {}
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    virtual void on_clock_jump(const Jump& jump) = 0;

   protected:
    ~Listener() { clock_.listeners_.remove(place_); }

   private:
    ServerClock& clock_;
    redis::ListenerList<Listener>::Place place_;
  };

  ServerClock(redis::Client& client, TimerQueue& timers, const Clock& clock, bool cluster);
  ~ServerClock();

  /// Requests the time at once and then periodically. Called when the connection is up.
  void start();
  /// Compares the time in a reply with the one before it.
  void note(WallTime time, Instant asked, Instant answered);
  [[nodiscard]] const std::optional<Jump>& last_jump() const { return last_jump_; }

 private:
  void ask();
  void wait();

  redis::Client& client_;
  const Clock& clock_;
  const bool cluster_;
  /// Clock of Redis minus the local clock; nullopt before the first reply.
  std::optional<Duration> offset_;
  Instant last_reply_{};
  std::optional<Jump> last_jump_;
  redis::ListenerList<Listener> listeners_;
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
