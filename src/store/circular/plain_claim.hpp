// One pass of PlainLocks::claim: a look at one item after the other, and at many at once where
// those before them were locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/client.hpp"
#include "store/circular/plain_locks.hpp"

namespace w8y::store {

class PlainLocks::ClaimPass : public std::enable_shared_from_this<PlainLocks::ClaimPass> {
 public:
  ClaimPass(PlainLocks& locks, const ClaimCall& call, Answer<ClaimResult> answer);
  void begin();

 private:
  /// Where so many were locked, all of the rest are, as a rule: one number says it of many.
  static constexpr std::size_t looked_at_one_by_one = 4;
  /// What is free behind many that are locked is brought to the left end, if nobody changes the
  /// list meanwhile at one of so many tries.
  static constexpr int most_tries = 4;

  void call(const redis::Command& command, redis::Client::Callback then);
  /// Every step holds the pass alive; trouble ends it.
  void ask(const redis::Command& command, std::function<void(const redis::Reply&)> then);
  void fail(const redis::Answer& answer);
  void finish();
  void next();

  // plain_claim_ahead.cpp
  void look_ahead(std::int64_t from);
  void are_locked(std::int64_t from);
  void locked(bool all, std::int64_t from, std::int64_t count);
  void look_at_right(std::int64_t seen);
  void find_free(std::int64_t from);
  void go_to_free(std::int64_t from);
  void bring(std::int64_t from);
  void turn(std::int64_t by);

  void reach();
  void enter_fleet();
  void leave_fleet();
  void look();
  void consider(const Item& item);
  void park(const Item& item);
  void quarantine(const Item& item);
  void lock(const Item& item);
  void take(const Item& item);
  void note_visit(const Item& item);
  void count(const Item& item);
  void counted(std::int64_t failures);
  /// Until it is as large as the time.
  void raise_fence(std::int64_t fence);
  void fenced(std::int64_t fence);

  PlainLocks& locks_;  ///< while *alive_
  redis::Client& client_;
  std::shared_ptr<bool> alive_;
  CircularKeys keys_;
  std::string value_prefix_;
  std::string parked_note_;
  std::vector<RunId> runs_;
  std::string expiry_;
  std::int64_t expiry_ms_;
  unsigned limit_;
  Answer<ClaimResult> answer_;
  ClaimResult result_;
  std::int64_t now_us_ = 0;
  std::size_t looked_ = 0;
  std::size_t look_ahead_at_ = looked_at_one_by_one;
  std::size_t piece_ = looked_at_one_by_one;  ///< read ahead at once
  std::vector<Item> ahead_;                   ///< read ahead, last
  std::vector<std::size_t> free_;             ///< in ahead_
  std::int64_t all_locked_ = 0;               ///< before those that were brought
  int tries_ = most_tries;
  std::optional<Item> in_place_;  ///< one that is taken where it stands
  std::size_t known_longest_;
  const std::size_t most_read_ahead_;
  const bool ends_;          ///< only the ends of the list are looked at, if it is long
  bool seen_right_ = false;  ///< of these, the right one
  std::size_t misses_ = 0;   ///< items that were locked, one after the other
  bool indexed_ = false;     ///< something is quarantined
  bool counted_ = true;      ///< the failures of the last that was taken are known
  bool over_ = false;
};

}  // namespace w8y::store
