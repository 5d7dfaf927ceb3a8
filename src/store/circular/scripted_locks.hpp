// LockStore by Lua scripts: one round trip each.
#pragma once

#include "store/circular/lock_store.hpp"

namespace w8y::store {

class ScriptedLocks final : public LockStore {
 public:
  /// `forbidden` is called, from the loop, when the server says that scripts are not allowed; the
  /// call that met it has been answered with trouble, and nothing was done.
  ScriptedLocks(redis::Client& client, std::function<void()> forbidden)
      : client_(client), forbidden_(std::move(forbidden)) {}

  void claim(const ClaimCall& call, Answer<ClaimResult> answer) override;
  void claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer) override;
  void undo(const UndoCall& call, Answer<UndoResult> answer) override;
  void renew(const RenewCall& call, Answer<RenewResult> answer) override;
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer) override;
  void sweep(const SweepCall& call, Answer<SweepResult> answer) override;
  void measure(const MeasureCall& call, Answer<MeasureResult> answer) override;
  void new_connection() override { proven_ = false; }

 private:
  void note_refusal(const redis::Answer& answer);

  redis::Client& client_;
  std::function<void()> forbidden_;
  bool proven_ = false;  ///< a claim has proved that this user may do all that a run takes
};

}  // namespace w8y::store
