// Keeps the locks of a connection alive: one timer for all, driven by the earliest deadline.
//
// The life of a lease is counted from before the claim or the renewal was sent, on the clock that
// neither stops nor jumps, so our idea of its end is never later than Redis's. Renewed at a third
// of `key_expiry`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/timers.hpp>

#include "store/circular/lock_store.hpp"
#include "store/margins.hpp"

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
  Leases(const Clock& clock, TimerQueue& timers, LockStore& store);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  class Lease;
  /// Held as long as the returned object lives: destroying it stops the renewals, no more.
  std::unique_ptr<Lease> hold(LeaseTerms terms, LeaseHandler& handler);
  /// The connection is back: everything is renewed at once.
  void renew_now();

  [[nodiscard]] std::size_t size() const { return due_.size(); }
  /// Something that was due seconds ago has not been looked at: the loop doesn't get to it.
  [[nodiscard]] bool overdue(Instant now) const {
    return !due_.empty() && std::get<Instant>(*due_.begin()) + std::chrono::seconds(5) < now;
  }
  [[nodiscard]] Margins& margins() { return margins_; }

 private:
  /// Those that are due at once: in the order in which they were claimed.
  using Due = std::set<std::tuple<Instant, std::uint64_t, Lease*>>;
  /// As many locks as one script call renews, so that Redis is never held for long.
  static constexpr std::size_t batch_size = 200;
  /// Of a lock; those of longer names wait for their turn.
  static constexpr std::size_t short_name = std::size_t{4} << 10;
  /// As many bytes of names, for the same reason; and in all calls that are not answered yet.
  static constexpr std::size_t batch_bytes = std::size_t{256} << 10;
  static constexpr std::size_t most_asked = std::size_t{4} << 20;

  void schedule(Lease& lease, Instant at);
  void arm();
  void run_due();
  struct Asked {
    std::shared_ptr<Lease*> lease;
    std::shared_ptr<const LeaseTerms> terms;
  };
  using Batch = std::vector<Lease*>;
  void send(std::vector<Lease*>&& leases);
  void send_all(const Batch& leases);
  void send_batch(const Batch& batch, std::size_t bytes);
  void renew_locks(const std::vector<Asked>& batch, const LeaseStore::Answer& answer);
  void retake(const std::vector<Asked>& batch, const RenewResult& found,
              const LeaseStore::Answer& answer);
  void answered(const std::vector<Asked>& asked, Instant sent, const std::vector<Renewed>* states);
  void send_delayed();
  void renewed(Lease& lease, Instant sent, Renewed state);
  void not_renewed(Lease& lease);
  void let_go(const LeaseTerms& terms);

  const Clock& clock_;
  LockStore& store_;
  Due due_;
  std::uint64_t made_ = 0;                        ///< leases
  std::size_t asked_ = 0;                         ///< bytes of names in calls that are not answered
  std::vector<std::shared_ptr<Lease*>> delayed_;  ///< until there are fewer of those
  Timer timer_;
  Margins margins_;
  std::shared_ptr<bool> alive_;
};

class Leases::Lease {
 public:
  ~Lease();
  /// By our clock; never later than Redis's idea.
  [[nodiscard]] Instant ends() const { return ends_; }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  [[nodiscard]] Duration expiry() const { return terms_->expiry; }
  [[nodiscard]] const LeaseTerms& terms() const { return *terms_; }

  /// Too late to begin a run under it: lease_expiring() has been told, or is about to be.
  [[nodiscard]] bool ends_soon() const;

 private:
  friend class Leases;
  Lease(Leases& leases, LeaseTerms terms, LeaseHandler& handler)
      : leases_(leases),
        terms_(std::make_shared<const LeaseTerms>(std::move(terms))),
        handler_(handler),
        number_(++leases.made_) {}

  Leases& leases_;
  const std::shared_ptr<const LeaseTerms> terms_;  ///< a name may be as long as its item
  LeaseHandler& handler_;
  const std::uint64_t number_;
  Instant ends_{};  ///< by our clock; never later than Redis's idea
  Instant renew_at_{};
  Instant due_{};  ///< its place in Leases::due_
  bool renewing_ = false;
  bool warned_ = false;
  bool lost_ = false;
  std::shared_ptr<Lease*> self_ = std::make_shared<Lease*>(this);  ///< for answers in flight
};

}  // namespace w8y::store
