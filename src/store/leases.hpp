// Keeps the locks of a connection alive: one timer for all, driven by the earliest deadline.
//
// The life of a lease is counted from before the claim or the renewal was sent, on the clock that
// neither stops nor jumps, so our idea of its end is never later than Redis's. Renewed at a third
// of `key_expiry`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "store/circular/script_locks.hpp"
#include "store/margins.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

class LeaseHandler {
 public:
  virtual ~LeaseHandler() = default;
  /// The lock is another's or gone, or ran out while Redis could not be asked. Told once, until
  /// lease_back().
  virtual void lease_lost(RunId run) = 0;
  virtual void lease_back(RunId run) = 0;
  /// Told once, a little before the lease would end unrenewed.
  virtual void lease_expiring(RunId run) = 0;
};

class LeaseStore;

struct LeaseTerms {
  RunId run;
  std::string key;
  std::string value;
  std::shared_ptr<const CircularKeys> keys;  ///< of a lock of a circular list
  bool fleet = false;                        ///< the run has a place in slots
  bool retake = false;                       ///< if it is found gone and free
  Duration expiry{0};
  Instant claimed{};  ///< before the claim was sent
  /// Time from the claim to the first renewal, which confirms that the reply has arrived. 0: a
  /// third of `expiry`.
  Duration confirm{0};
  /// Of another kind of work: how it is renewed, and of what item it is.
  std::shared_ptr<LeaseStore> store = nullptr;
  Item item = {};
};

/// Leases of a kind of work of its own.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  /// nullptr: Redis could not be asked, or refused.
  using Answer = std::function<void(const std::vector<Renewed>* states)>;
  using Batch = std::vector<std::shared_ptr<const LeaseTerms>>;
  /// All have the same life, and all or none of them places in the fleet.
  virtual void renew(const Batch& leases, Answer answer) = 0;
  /// A renewal came to Redis behind the end of its run: it has taken the key again, for nobody.
  virtual void let_go(const LeaseTerms& lease) = 0;
};

class Leases {
 public:
  Leases(const Clock& clock, TimerQueue& timers, ScriptLocks& store, ServerClock& server_clock);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  class Lease;
  Lease hold(LeaseTerms terms, LeaseHandler& handler);
  /// The connection is back: everything is renewed at once.
  void renew_now();

  [[nodiscard]] std::size_t size() const { return due_.size(); }
  /// Something that was due seconds ago has not been looked at: the loop doesn't get to it.
  [[nodiscard]] bool overdue(Instant now) const {
    return !due_.empty() && due_.begin()->first.first + std::chrono::seconds(5) < now;
  }
  [[nodiscard]] Margins& margins() { return margins_; }

 private:
  struct Held;
  /// Those that are due at once: in the order in which they were claimed.
  using Due = std::map<std::pair<Instant, std::uint64_t>, Held*>;
  /// As many locks as one script call renews, so that Redis is never held for long.
  static constexpr std::size_t batch_size = 200;
  /// Of a lock; those of longer names wait for their turn.
  static constexpr std::size_t short_name = std::size_t{4} << 10;
  /// As many bytes of names, for the same reason; and in all calls that are not answered yet.
  static constexpr std::size_t batch_bytes = std::size_t{256} << 10;
  static constexpr std::size_t most_asked = std::size_t{4} << 20;

  void schedule(Held& lease, Instant at);
  void arm();
  void run_due();
  /// What a call that is not answered yet knows of them.
  using Asked = std::vector<std::shared_ptr<Held>>;
  using Batch = std::vector<Held*>;
  static bool is_more_urgent(const Held* a, const Held* b);
  void send(Batch&& leases);
  void send_all(std::span<Held* const> leases);
  void send_batch(const Batch& batch, std::size_t bytes);
  void renew_locks(const Asked& batch, const LeaseStore::Answer& answer);
  void retake(const Asked& batch, const RenewResult& found, const LeaseStore::Answer& answer);
  void answered(const Asked& asked, Instant sent, const std::vector<Renewed>* states);
  void send_delayed();
  void renewed(Held& lease, Instant sent, Renewed state);
  void not_renewed(Held& lease);
  void let_go(const LeaseTerms& terms);

  const Clock& clock_;
  ScriptLocks& store_;
  ServerClock& server_clock_;  ///< compares the time in each reply
  Due due_;
  std::uint64_t made_ = 0;  ///< leases
  std::size_t asked_ = 0;   ///< bytes of names in calls that are not answered
  Asked delayed_;           ///< until there are fewer of those
  Timer timer_;
  Margins margins_;
  std::shared_ptr<bool> alive_;
};

/// A lease, and what an answer in flight finds of one that was let go: a name may be as long as its
/// item, and is there once.
struct Leases::Held : std::enable_shared_from_this<Leases::Held> {
  Held(LeaseTerms with, LeaseHandler& told, std::uint64_t made)
      : terms(std::move(with)), handler(&told), number(made) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  LeaseTerms terms;
  LeaseHandler* handler;  ///< nullptr: it was let go
  const std::uint64_t number;
  Instant ends{};
  Instant renew_at{};
  Due::iterator place{};  ///< in Leases::due_
  bool renewing = false;
  bool warned = false;
  bool lost = false;
};

/// Held as long as this lives: with its end the renewals stop, no more. Empty once moved from.
class Leases::Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : leases_(other.leases_), held_(std::move(other.held_)) {}
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { let_go(); }

  /// By our clock; never later than Redis's idea.
  [[nodiscard]] Instant ends() const { return held_->ends; }
  [[nodiscard]] Duration expiry() const { return held_->terms.expiry; }
  [[nodiscard]] const LeaseTerms& terms() const { return held_->terms; }
  /// Too late to begin a run under it: lease_expiring() has been told, or is about to be.
  [[nodiscard]] bool ends_soon() const;
  /// Lets it go, and says what it was about.
  LeaseTerms end();

 private:
  friend class Leases;
  Lease(Leases& leases, std::shared_ptr<Held> held) : leases_(&leases), held_(std::move(held)) {}
  void let_go();

  Leases* leases_ = nullptr;
  std::shared_ptr<Held> held_;
};

}  // namespace w8y::store
