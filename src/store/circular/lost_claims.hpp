// Undoes in-doubt claims: Redis may have executed them, but the reply was lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

/// Finds the locks of in-doubt claims by their values and hands the items back, before the locks
/// expire by themselves. A claim moves the items that it examines to the end of the list, so the
/// search starts there, a number of items per call. If items are long, there are pauses for other
/// calls.
class LostClaims {
 public:
  /// `none_left`: called from the loop when the last in-doubt claim is resolved.
  LostClaims(RedisSession& session, std::function<void()> none_left);
  ~LostClaims();
  LostClaims(const LostClaims&) = delete;
  LostClaims& operator=(const LostClaims&) = delete;

  /// Adds the runs of a claim that was sent without a reply. `value_prefix`: the lock values
  /// without the run ID; `expiry`: of these locks.
  void add(std::shared_ptr<const CircularKeys> keys, std::string value_prefix,
           const std::vector<RunId>& runs, Duration expiry);
  /// Starts the search. Called when the connection is up again, or a claim was added. Retries
  /// follow by a timer.
  void look();
  [[nodiscard]] std::size_t size() const { return lost_.size(); }

 private:
  struct Lost {
    std::shared_ptr<const CircularKeys> keys;
    std::string value_prefix;
    std::vector<RunId> runs;             ///< runs not found yet
    Instant until;                       ///< time by which the locks have expired
    std::size_t looked = 0;              ///< items examined, from the end
    std::optional<std::size_t> longest;  ///< longest item in the last step; nullopt = unknown, read
                                         ///< few
    bool asking = false;                 ///< a call is in flight
    bool refused = false;                ///< because of the keys, or the form of the call
  };
  using Id = std::uint64_t;

  void go_on();
  void step(Id id, Lost& lost);
  void looked(Id id, Lost& lost, const UndoResult& result);
  void not_looked(Id id, Lost& lost, const StoreError& trouble, std::size_t at_once);
  void forget(Id id);
  void arm();

  RedisSession& session_;
  std::function<void()> none_left_;
  std::map<Id, Lost> lost_;
  Id last_id_ = 0;
  Timer timer_;
  Timer retry_;
  Timer pause_;  ///< after a step over long items
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
