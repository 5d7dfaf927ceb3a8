// LockStore by plain commands, for servers whose ACL forbids scripts: more round trips, the same
// keys and the same guarantees, but for two of the script's extras: a pass claims one item after
// the other, and history, news and failures are written after the lock, not with it.
#pragma once

#include <deque>

#include "source/lock_store.hpp"

namespace w8y::source {

class PlainLocks final : public LockStore {
 public:
  explicit PlainLocks(redis::Client& client);
  ~PlainLocks() override;

  void claim(const ClaimCall& call, Answer<ClaimResult> answer) override;
  void renew(const RenewCall& call, Answer<std::vector<Renewed>> answer) override;
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer) override;

 private:
  using Change = std::vector<std::vector<std::string>>;  ///< commands for MULTI … EXEC
  struct Swap;
  class ClaimPass;

  /// WATCH lock, GET lock, then MULTI, commands, EXEC. What is watched belongs to the connection,
  /// so one such swap goes at a time.
  void swap(std::string key, std::function<Change(const std::string* found)> decide,
            Answer<bool> answer);
  using Settled = std::function<void(const Trouble* trouble)>;
  void settle_one(const CircularKeys& keys, const SettleCall& call, Settled answer);
  void settle_lock(const CircularKeys& keys, const SettleCall& call, Settled answer);
  void next_swap();
  void renew_places(const RenewCall& call);
  void finish_swap(const bool* done, const Trouble& trouble);

  redis::Client& client_;
  std::deque<std::unique_ptr<Swap>> swaps_;
  std::shared_ptr<bool> alive_;  ///< false once this is gone: answers in flight then do nothing
};

}  // namespace w8y::source
