#include "store/circular/lock_store.hpp"

#include <algorithm>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"
#include "store/circular/scripted_locks.hpp"

namespace w8y::store {

namespace {

class Switching final : public LockStore {
 public:
  explicit Switching(redis::Client& client)
      : client_(client),
        scripted_(client, [this] { plain_only_ = true; }),
        plain_(client),
        alive_(std::make_shared<bool>(true)) {}
  ~Switching() override { *alive_ = false; }

  void claim(const ClaimCall& call, Answer<ClaimResult> answer) override {
    now().claim(call, std::move(answer));
  }
  void claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer) override {
    now().claim_item(call, std::move(answer));
  }
  void undo(const UndoCall& call, Answer<UndoResult> answer) override {
    now().undo(call, std::move(answer));
  }
  void renew(const RenewCall& call, Answer<RenewResult> answer) override {
    now().renew(call, std::move(answer));
  }
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer) override {
    now().settle(keys, calls, std::move(answer));
  }
  void sweep(const SweepCall& call, Answer<SweepResult> answer) override {
    now().sweep(call, std::move(answer));
  }
  void measure(const MeasureCall& call, Answer<MeasureResult> answer) override {
    now().measure(call, std::move(answer));
  }
  void new_connection() override {
    scripted_.new_connection();
    plain_.new_connection();
    if (!plain_only_) return;
    // Until it is answered, plain commands do.
    client_.call({"EVAL", "return 1", "0"}, [this, alive = alive_](const redis::Answer& answer) {
      if (*alive && answer.ok()) plain_only_ = false;
    });
  }

 private:
  LockStore& now() {
    if (plain_only_) return plain_;
    return scripted_;
  }

  redis::Client& client_;
  bool plain_only_ = false;
  ScriptedLocks scripted_;
  PlainLocks plain_;
  std::shared_ptr<bool> alive_;
};

}  // namespace

std::size_t LockStore::at_once(std::optional<std::size_t> longest) {
  // As in claim.lua and undo.lua, for the first items.
  constexpr std::size_t most = 64;
  constexpr std::size_t most_bytes = std::size_t{256} << 10;
  if (!longest) return 1;
  return std::clamp<std::size_t>(most_bytes / (*longest + 1), 1, most);
}

std::unique_ptr<LockStore> make_lock_store(redis::Client& client) {
  return std::make_unique<Switching>(client);
}

}  // namespace w8y::store
