// Leases of items of circular lists.
#pragma once

#include <utility>

#include "store/circular/keys.hpp"
#include "store/circular/lock_calls.hpp"
#include "store/leases.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

/// The key of a lease is the lock of its item, and its value ends with the run ID.
class CircularLeaseStore final : public LeaseStore {
 public:
  /// `records`: whether renewals record the claims, so that an interrupted run leaves a record.
  CircularLeaseStore(RedisSession& session, CircularKeys keys, bool records)
      : session_(session), keys_(std::move(keys)), records_(records) {}

  void renew(const Batch& leases, Answer answer) override;
  void let_go(const LeaseTerms& lease) override;
  [[nodiscard]] const CircularKeys& keys() const { return keys_; }

 private:
  void retake(const Batch& leases, const RenewResult& found, Answer&& answer);
  [[nodiscard]] bool records(const LeaseState& lease) const;

  RedisSession& session_;
  const CircularKeys keys_;
  const bool records_;
};

}  // namespace w8y::store
