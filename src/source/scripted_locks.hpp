// LockStore by Lua scripts: one round trip each.
#pragma once

#include "source/lock_store.hpp"

namespace w8y::source {

class ScriptedLocks final : public LockStore {
 public:
  /// `forbidden` is called, from the loop, when the server says that scripts are not allowed; the
  /// call that met it has been answered with trouble, and nothing was done.
  ScriptedLocks(redis::Client& client, std::function<void()> forbidden)
      : client_(client), forbidden_(std::move(forbidden)) {}

  void claim(const ClaimCall& call, Answer<ClaimResult> answer) override;
  void renew(const RenewCall& call, Answer<std::vector<Renewed>> answer) override;
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer) override;

 private:
  redis::Client& client_;
  std::function<void()> forbidden_;
};

}  // namespace w8y::source
