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

/// Each reply callback gets either a result or an error, is called once, and never from inside the
/// call. The arguments are read before the call returns.
class ScriptLocks final {
 public:
  template <typename Result>
  using Answer = std::function<void(const Result* result, const StoreError& trouble)>;

  explicit ScriptLocks(redis::Client& client) : client_(client) {}

  void claim_item(const ClaimItemCall& call, Answer<ClaimItemResult> answer);
  void renew(const RenewCall& call, Answer<RenewResult> answer);
  void sweep(const SweepCall& call, Answer<SweepResult> answer);
  void recover(const RecoverRunsCall& call);
  void measure(const ListStatsCall& call, Answer<ListStatsResult> answer);
  /// Forgets the proof of permissions. A new connection may have another user.
  void new_connection() { proven_ = false; }
  /// Returns whether a claim has proved that this user has all permissions that a run needs.
  [[nodiscard]] bool proven() const { return proven_; }
  void set_proven(bool proven) { proven_ = proven; }
  /// Forgets the proof if an ACL refused something. The next claim checks the permissions again and
  /// reports what is missing.
  void note_refusal(const redis::Answer& answer);

  /// Maximum number of items that a call examines, so that Redis is not blocked for long.
  static constexpr std::size_t most_looked_at = 256;
  /// Number of items at the right end that an edge scan examines (claim.lua), and a peek after a
  /// change.
  static constexpr std::int64_t seen_at_right = most_looked_at / 4;
  /// Bytes of items whose examination costs Redis about as much as one call.
  static constexpr std::size_t bytes_per_call = std::size_t{256} << 10;
  /// Maximum number of comparisons in one sweep, for the same reason: a few ms.
  static constexpr std::size_t most_compared = 200'000;
  /// Bytes of items after which a call examines no more. So a reply has at most this size and one
  /// item more.
  static constexpr std::size_t most_bytes_looked_at = std::size_t{1} << 20;
  /// Returns the number of items of this length that can be read at once: fewer if they are long.
  static std::size_t at_once(std::optional<std::size_t> longest);

 private:
  redis::Client& client_;
  bool proven_ = false;
};

}  // namespace w8y::store
