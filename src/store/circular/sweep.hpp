// Forgets, in the course of time, what was noted about items that users have taken off their lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <w8y/timers.hpp>

#include "store/circular/members.hpp"

namespace w8y::store {

class LockStore;

/// One call every ten seconds, for up to most_lists lists in turn, however many there are. It
/// forgets failures and quarantines of items that are no longer in their list. Any number of hosts
/// may do the same. So few calls don't count in the idle budget.
class Sweep {
 public:
  static constexpr Duration pause = std::chrono::seconds(10);
  static constexpr std::size_t most_lists = 64;

  /// In a cluster, lists in several slots can't share a call: one at a time. `seed` spreads hosts.
  Sweep(Members& members, LockStore& store, TimerQueue& timers, const Clock& clock, bool cluster,
        std::uint64_t seed);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  /// There is a list: from now on, as long as there are any.
  void begin() {
    if (!timer_.pending()) arm(first_pause_);
  }
  /// The next call, now.
  void step();

 private:
  void arm(Duration in);

  Members& members_;
  LockStore& store_;
  const Clock& clock_;
  std::size_t most_;
  Duration first_pause_;
  bool asking_ = false;
  Timer timer_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
