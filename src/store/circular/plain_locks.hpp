// LockStore by plain commands, for servers whose ACL forbids scripts: more round trips, the same
// keys and the same guarantees, but for one of the script's extras: a pass claims one item after
// the other.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/reply_copy.hpp"
#include "store/circular/lock_store.hpp"

namespace w8y::store {

class PlainLocks final : public LockStore {
 public:
  explicit PlainLocks(redis::Client& client);
  ~PlainLocks() override;

  void claim(const ClaimCall& call, Answer<ClaimResult> answer) override;
  void claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer) override;
  void undo(const UndoCall& call, Answer<UndoResult> answer) override;
  void renew(const RenewCall& call, Answer<RenewResult> answer) override;
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer) override;

  void sweep(const SweepCall& call, Answer<SweepResult> answer) override;
  void measure(const MeasureCall& call, Answer<MeasureResult> answer) override;
  void new_connection() override { forbidden_.clear(); }

 private:
  using Commands = std::vector<std::vector<std::string>>;
  /// For MULTI … EXEC. Notes are what is left out where the user may not do it.
  struct Change {
    Commands commands;
    Commands notes;
  };
  struct Found {
    std::optional<std::string> lock;
    std::vector<redis::ReplyCopy> reads;
  };
  struct Swapped {
    bool done = false;                      ///< else the lock was changed meanwhile, and nothing is
    std::vector<redis::ReplyCopy> replies;  ///< of EXEC
    std::string refused;                    ///< of the notes; empty: nothing
  };
  struct Swap;
  struct Pass;
  struct Standing;
  class ClaimPass;  ///< in plain_claim.hpp
  class ItemSteps;  ///< in plain_claim_item.cpp
  class Undo;       ///< in plain_undo.cpp
  class Measure;    ///< in plain_measure.cpp

  enum class Watched : std::uint8_t { lock, list };  ///< of a list, only what `reads` says is read
  /// WATCH key, reads, lock, then MULTI, commands, EXEC. What is watched belongs to the
  /// connection, so one such swap goes at a time.
  void swap(std::string key, Commands reads, std::function<Change(const Found& found)> decide,
            Answer<Swapped> answer, Watched watched = Watched::lock);
  void next_swap();
  void read(std::size_t at, const std::shared_ptr<Pass>& reading);
  void read_lock(const std::shared_ptr<Pass>& reading);
  void execute(Change&& change);
  void look_inside(const redis::Reply& replies, std::size_t certain,
                   const std::vector<std::string>& notes);
  void finish_swap(const StoreError* trouble);

  void renew_places(const RenewCall& call);
  using Settled = std::function<void(const StoreError* trouble)>;
  void settle_one(const CircularKeys& keys, const SettleCall& call, Settled answer);
  void sweep_entries(const CircularKeys& keys, const std::string& hash, std::function<void()> over);
  void sweep_entry(const CircularKeys& keys, const std::string& hash, const Item& item);
  static Change change_of(const CircularKeys& keys, const SettleCall& call, const Standing& at);

  redis::Client& client_;
  std::deque<std::unique_ptr<Swap>> swaps_;
  std::map<std::string, std::string> forbidden_;  ///< commands, on this connection, and why
  std::shared_ptr<bool> alive_;  ///< false once this is gone: answers in flight then do nothing
};

}  // namespace w8y::store
