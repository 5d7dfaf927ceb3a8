// Claims whose answer was lost: what they locked is found by its token and released.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/timers.hpp>

#include "source/redis_link.hpp"

namespace w8y::source {

/// A claim that Redis carried out, but could not tell us of, leaves locks that nobody holds. They
/// would run out by themselves, but an item is not to wait for that. Whatever a claim looked at
/// went to the end of its list, so it is looked for from there, some items at a time.
class LostClaims {
 public:
  /// `none_left` is called, from the loop, when the last one has been dealt with.
  LostClaims(RedisLink& link, std::function<void()> none_left);
  ~LostClaims();
  LostClaims(const LostClaims&) = delete;
  LostClaims& operator=(const LostClaims&) = delete;

  /// Lock values of a claim that was sent and not answered, with the life of its locks.
  void add(std::shared_ptr<const CircularKeys> keys, const std::vector<std::string>& values,
           Duration expiry);
  /// The connection is back, or something was added. Tried again now and then besides.
  void look();
  [[nodiscard]] std::size_t size() const { return lost_.size(); }

 private:
  /// Looked at in one step, so that Redis is never held for long.
  static constexpr std::int64_t items_per_step = 256;

  struct Lost {
    std::shared_ptr<const CircularKeys> keys;
    std::vector<std::string> values;  ///< not found yet
    Instant until;                    ///< its locks have run out by then
    std::int64_t looked = 0;          ///< items from the end
    bool asking = false;              ///< an answer is to come
    bool looked_at_all = false;       ///< only releases are still to be answered
    std::size_t releasing = 0;
  };
  using Id = std::uint64_t;

  void step(Id id, Lost& lost);
  void compare(Id id, Lost& lost, const std::vector<std::string>& items);
  void found(Id id, Lost& lost, const std::string& item, const std::string& value);
  void finish(Id id, Lost& lost);
  void forget(Id id);
  void arm();
  /// The one that an answer is for, which has come; null if it is over, or there is no answer.
  Lost* answered(Id id, const redis::Answer& answer);

  RedisLink& link_;
  std::function<void()> none_left_;
  std::map<Id, Lost> lost_;
  Id last_id_ = 0;
  Timer timer_;
  Timer retry_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::source
