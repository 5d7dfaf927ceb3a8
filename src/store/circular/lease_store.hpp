// Leases of items of circular lists.
#pragma once

#include <utility>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "store/circular/keys.hpp"
#include "store/circular/script_locks.hpp"
#include "store/leases.hpp"
#include "store/server_clock.hpp"

namespace w8y::store {

/// The key of a lease is the lock of its item, and its value ends with the run ID.
class CircularLeaseStore final : public LeaseStore {
 public:
  /// `server_clock` receives the time in each reply. `records`: whether renewals record the claims,
  /// so that an interrupted run leaves a record.
  CircularLeaseStore(ScriptLocks& locks, ServerClock& server_clock, const Clock& clock,
                     CircularKeys keys, bool records)
      : locks_(locks),
        server_clock_(server_clock),
        clock_(clock),
        keys_(std::move(keys)),
        records_(records) {}

  void renew(const Batch& leases, Answer answer) override;
  void let_go(const LeaseTerms& lease) override;
  [[nodiscard]] const CircularKeys& keys() const { return keys_; }

 private:
  void retake(const Batch& leases, const RenewResult& found, Answer&& answer);
  [[nodiscard]] bool records(const LeaseState& lease) const;

  ScriptLocks& locks_;
  ServerClock& server_clock_;
  const Clock& clock_;
  const CircularKeys keys_;
  const bool records_;
};

}  // namespace w8y::store
