// Leases of claimed jobs: feed.lease:F:<id>, and what is noted beside it.
#pragma once

#include "redis/client.hpp"
#include "store/leases.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::store::thoonk {

/// A lease's item is the job's id.
class JobLeaseStore final : public LeaseStore {
 public:
  JobLeaseStore(redis::Client& client, FeedKeys keys) : client_(client), keys_(std::move(keys)) {}

  void renew(const Batch& leases, Answer answer) override;
  /// It was taken again only because the claim was still ours: then whatever ends the claim takes
  /// the lease with it.
  void let_go(const LeaseTerms&) override {}
  [[nodiscard]] const FeedKeys& keys() const { return keys_; }

 private:
  redis::Client& client_;
  const FeedKeys keys_;
};

}  // namespace w8y::store::thoonk
