// Claims whose answer was lost: what they locked is found by its token and released.
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

/// A claim that Redis carried out, but could not tell us of, leaves locks that nobody holds. They
/// would run out by themselves, but an item is not to wait for that. Whatever a claim looked at
/// went to the end of its list, so it is looked for from there, some items at a time. Where items
/// are long, Redis is left to others in between.
class LostClaims {
 public:
  /// `none_left` is called, from the loop, when the last one has been dealt with.
  LostClaims(RedisSession& session, std::function<void()> none_left);
  ~LostClaims();
  LostClaims(const LostClaims&) = delete;
  LostClaims& operator=(const LostClaims&) = delete;

  /// The runs of a claim that was sent and not answered, what stands before them in the values of
  /// their locks, and the life of those.
  void add(std::shared_ptr<const CircularKeys> keys, std::string value_prefix,
           const std::vector<RunId>& runs, Duration expiry);
  /// The connection is back, or something was added. Tried again now and then besides.
  void look();
  [[nodiscard]] std::size_t size() const { return lost_.size(); }

 private:
  struct Lost {
    std::shared_ptr<const CircularKeys> keys;
    std::string value_prefix;
    std::vector<RunId> runs;             ///< not found yet
    Instant until;                       ///< its locks have run out by then
    std::size_t looked = 0;              ///< items from the end
    std::optional<std::size_t> longest;  ///< item of the last step; none: be careful
    bool asking = false;                 ///< an answer is to come
    bool refused = false;                ///< because of the keys, or the way it was asked
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
