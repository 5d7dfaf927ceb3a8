// Calls of the scripts of circular lists, each with one round trip.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "store/circular/lock_calls.hpp"
#include "store/store_error.hpp"

namespace w8y::redis {
class Client;
struct Answer;
}  // namespace w8y::redis

namespace w8y::store {

/// Either a result or trouble, told once and never from inside the call. What a call is given is
/// read before it returns.
class ScriptLocks final {
 public:
  template <typename Result>
  using Answer = std::function<void(const Result* result, const StoreError& trouble)>;
  /// No trouble: it is settled.
  using SettleAnswer = std::function<void(std::size_t call, const StoreError* trouble)>;

  explicit ScriptLocks(redis::Client& client) : client_(client) {}

  void claim(const ClaimCall& call, Answer<ClaimResult> answer);
  void claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer);
  void undo(const UndoCall& call, Answer<UndoResult> answer);
  void renew(const RenewCall& call, Answer<RenewResult> answer);
  /// Runs of one list, at most most_settled of them. `answer` is told once of each, by its place
  /// among the calls.
  void settle(const CircularKeys& keys, const std::vector<const SettleCall*>& calls,
              SettleAnswer answer);
  void sweep(const SweepCall& call, Answer<SweepResult> answer);
  void measure(const ListStatsCall& call, Answer<ListStatsResult> answer);
  /// It may be another user's: what was forbidden may be allowed, and the other way round.
  void new_connection() { proven_ = false; }

  /// A call looks at no more items than this, so that Redis is never held for long.
  static constexpr std::size_t most_looked_at = 256;
  /// Compared by one sweep, for the same reason: a few ms.
  static constexpr std::size_t most_compared = 200'000;
  /// Nor at more bytes of them: the item that comes to this is the last. So a reply has at most
  /// this and one item.
  static constexpr std::size_t most_bytes_looked_at = std::size_t{1} << 20;
  /// Items of such a length that can be read at once: few where they are long.
  static std::size_t at_once(std::optional<std::size_t> longest);
  /// Settled by one call, for the same reason.
  static constexpr std::size_t most_settled = 32;

 private:
  void note_refusal(const redis::Answer& answer);

  redis::Client& client_;
  bool proven_ = false;  ///< a claim has proved that this user may do all that a run takes
};

}  // namespace w8y::store
