// Leases of claimed jobs: feed.lease:F:<id>, and the record of the claim.
#pragma once

#include "redis/client.hpp"
#include "store/leases.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::store::thoonk {

/// The item of a lease is the job ID.
class JobLeaseStore final : public LeaseStore {
 public:
  JobLeaseStore(redis::Client& client, FeedKeys keys) : client_(client), keys_(std::move(keys)) {}

  void renew(const Batch& leases, Answer answer) override;
  /// Does nothing. The lease was set again only because the claim was still this host's, and the
  /// end of the claim deletes the lease.
  void let_go(const LeaseTerms&) override {}
  [[nodiscard]] const FeedKeys& keys() const { return keys_; }

 private:
  redis::Client& client_;
  const FeedKeys keys_;
};

}  // namespace w8y::store::thoonk
