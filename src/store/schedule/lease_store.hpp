// Leases of running jobs: Redbike's key of each, and the record of the claim.
#pragma once

#include "redis/client.hpp"
#include "store/leases.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::store {

/// The key of a lease is the key of its job, and its value is the tag.
class ScheduleLeaseStore final : public LeaseStore {
 public:
  ScheduleLeaseStore(redis::Client& client, ScheduleKeys keys)
      : client_(client), keys_(std::move(keys)) {}

  void renew(const Batch& leases, Answer answer) override;
  void let_go(const LeaseTerms& lease) override;
  [[nodiscard]] const ScheduleKeys& keys() const { return keys_; }

 private:
  redis::Client& client_;
  const ScheduleKeys keys_;
};

}  // namespace w8y::store
