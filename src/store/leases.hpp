// Renews the locks that this host holds on one Redis. One timer serves all leases, set to the
// earliest deadline.
//
// The life of a lease is counted from before its claim or renewal was sent, on a clock that neither
// stops nor jumps. So the end that this host computes is never later than the end in Redis. A lease
// is renewed after a third of `key_expiry`.
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
#include "core/item.hpp"
#include "core/run_id.hpp"
#include "core/timers.hpp"
#include "store/margins.hpp"
#include "store/renewed.hpp"

namespace w8y::store {

class LeaseHandler {
 public:
  virtual ~LeaseHandler() = default;
  /// Called when the lock belongs to another holder, is missing, or has expired while Redis was
  /// unavailable. Called once, until lease_back().
  virtual void lease_lost(RunId run) = 0;
  virtual void lease_back(RunId run) = 0;
  /// Called once, shortly before the lease ends if no renewal is confirmed.
  virtual void lease_expiring(RunId run) = 0;
};

class LeaseStore;

struct LeaseTerms {
  RunId run;
  std::string key;
  std::string value;
  std::shared_ptr<LeaseStore> store;
  bool fleet = false;   ///< whether the run holds a fleet slot
  bool retake = false;  ///< whether a missing lock may be set again
  Duration expiry{0};
  Instant claimed{};  ///< time before the claim was sent
  /// Time from the claim to the first renewal, which confirms that the reply has arrived. 0 = a
  /// third of `expiry`.
  Duration confirm{0};
  Item item = {};  ///< empty if the key contains it
};

/// State of a lease that its store may read.
struct LeaseState {
  LeaseTerms terms;
  LeaseHandler* handler;  ///< nullptr after the lease has ended
  Instant ends{};         ///< by the local clock, never later than in Redis
  bool lost = false;
  bool renewed = false;    ///< whether a renewal was sent
  bool confirmed = false;  ///< whether a renewal was confirmed
  [[nodiscard]] bool ended() const { return handler == nullptr; }
};

/// Renews the leases of one list.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  /// Called with the states, or with nullptr if Redis is unavailable or refused the call.
  using Answer = std::function<void(const std::vector<Renewed>* states)>;
  using Batch = std::vector<std::shared_ptr<const LeaseState>>;
  /// Renews leases that have the same expiry. Either all or none of them hold a fleet slot.
  virtual void renew(const Batch& leases, Answer answer) = 0;
  /// Deletes a key that a renewal has set again after the settlement of its run.
  virtual void let_go(const LeaseTerms& lease) = 0;
};

class Leases {
 public:
  Leases(const Clock& clock, TimerQueue& timers);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  class Lease;
  Lease hold(LeaseTerms terms, LeaseHandler& handler);
  /// Renews all leases at once. Called when the connection is up again.
  void renew_now();

  [[nodiscard]] std::size_t size() const { return due_.size(); }
  /// Returns whether a deadline has passed more than 5 s ago, which means that the event loop is
  /// blocked.
  [[nodiscard]] bool overdue(Instant now) const {
    return !due_.empty() && due_.begin()->first.first + std::chrono::seconds(5) < now;
  }
  [[nodiscard]] Margins& margins() { return margins_; }

 private:
  struct Held;
  /// Leases by deadline. Leases with the same deadline are in the order of their claims.
  using Due = std::map<std::pair<Instant, std::uint64_t>, Held*>;
  /// Maximum number of locks in one script call, so that Redis is not blocked for long.
  static constexpr std::size_t batch_size = 200;
  /// Maximum length of a lock name that is short. Leases with longer names are renewed after all
  /// others.
  static constexpr std::size_t short_name = std::size_t{4} << 10;
  /// Maximum number of bytes of names in one call, for the same reason, and in all calls in flight.
  static constexpr std::size_t batch_bytes = std::size_t{256} << 10;
  static constexpr std::size_t most_asked = std::size_t{4} << 20;

  void schedule(Held& lease, Instant at);
  void arm();
  void run_due();
  /// Leases of a call in flight.
  using Asked = std::vector<std::shared_ptr<Held>>;
  using Batch = std::vector<Held*>;
  static bool is_more_urgent(const Held* a, const Held* b);
  void send(Batch&& leases);
  void send_all(std::span<Held* const> leases);
  void send_batch(const Batch& batch, std::size_t bytes);
  void answered(const Asked& asked, Instant sent, const std::vector<Renewed>* states);
  void send_delayed();
  void renewed(Held& lease, Instant sent, Renewed state);
  void not_renewed(Held& lease);

  const Clock& clock_;
  Due due_;
  std::uint64_t made_ = 0;  ///< number of leases made
  std::size_t asked_ = 0;   ///< bytes of names in calls in flight
  Asked delayed_;           ///< leases that wait until `asked_` is below its limit
  Timer timer_;
  Margins margins_;
  std::shared_ptr<bool> alive_;
};

/// State of a lease. A reply in flight shares it, also after the lease has ended: a lock name may
/// be as long as its item and is stored only once.
struct Leases::Held : LeaseState, std::enable_shared_from_this<Leases::Held> {
  Held(LeaseTerms with, LeaseHandler& told, std::uint64_t made)
      : LeaseState{std::move(with), &told}, number(made) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const std::uint64_t number;
  Instant renew_at{};
  Due::iterator place{};  ///< position in Leases::due_
  bool renewing = false;
  bool warned = false;
};

/// A lease that is renewed as long as this object lives. Its end stops the renewals and changes
/// nothing in Redis. Empty after a move.
class Leases::Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : leases_(other.leases_), held_(std::move(other.held_)) {}
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { let_go(); }

  /// Returns the end by the local clock, which is never later than the end in Redis.
  [[nodiscard]] Instant ends() const { return held_->ends; }
  [[nodiscard]] Duration expiry() const { return held_->terms.expiry; }
  /// Returns whether a renewal was sent.
  [[nodiscard]] bool was_renewed() const { return held_->renewed; }
  /// Returns whether it is too late to start a run: lease_expiring() has been called or will be
  /// soon.
  [[nodiscard]] bool ends_soon() const;
  /// Ends the lease and returns its terms.
  LeaseTerms end();

 private:
  friend class Leases;
  Lease(Leases& leases, std::shared_ptr<Held> held) : leases_(&leases), held_(std::move(held)) {}
  void let_go();

  Leases* leases_ = nullptr;
  std::shared_ptr<Held> held_;
};

}  // namespace w8y::store
