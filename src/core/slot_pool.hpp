// The one limit that all lists of a host share: `host_concurrency`, divided by weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/clock.hpp"

namespace w8y {

/// Places for running children. A user takes as many as it may, and gives each back when its run
/// has ended. When places are short, a freed one goes to the waiting user that has had the least of
/// them: places times time, divided by weight. So every user that waits is served, however long the
/// runs of others are, and shares follow the weights, even if there are fewer places than users or
/// runs take unequally long. Time counts only while somebody waits: what a user had while nobody
/// else wanted it is not held against it. Whoever joins the line starts level with those who wait
/// already. Outside of a call, either no place is free or nobody waits.
class SlotPool {
 public:
  class User {
   public:
    User(SlotPool& places, unsigned weight);
    virtual ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

    /// Up to `wanted` places, now. If it gets fewer than it wanted, the user waits in line and
    /// `on_slot_free()` is called once when there is a place for it.
    std::size_t acquire(std::size_t wanted);
    /// The user stands in line after that: its on_slot_free() may be called at once.
    void release(std::size_t count);
    /// Leaves the line: it has nothing to run.
    void leave_queue();
    void set_weight(unsigned weight);
    [[nodiscard]] std::size_t held() const { return held_; }

   protected:
    /// A place may be free now: call take() again. A user that takes none leaves the line. Runs
    /// inside another user's release() (or its end) or inside this user's own, never inside its
    /// own take().
    virtual void on_slot_free() = 0;

   private:
    friend class SlotPool;
    void set_waiting(bool waiting);
    void account();
    void hold(std::size_t places);
    void join_queue();
    void quit_queue();

    SlotPool& pool_;
    unsigned weight_;
    bool waiting_ = false;  ///< it is in the line
    std::size_t held_ = 0;
    double usage_ = 0;          ///< seconds of a place, per weight, until accounted_
    double accounted_;          ///< of SlotPool::contended()
    std::uint64_t joined_ = 0;  ///< to the line: of two that have had the same, the first is served
  };

  /// `limit` 0: no limit.
  SlotPool(const Clock& clock, std::size_t limit) : clock_(clock), limit_(limit) {}
  void set_limit(std::size_t limit);
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  friend class User;
  struct MinUsageFirst {
    bool operator()(const User* a, const User* b) const;
  };
  [[nodiscard]] std::size_t free() const;
  [[nodiscard]] bool has_no_waiter() const {
    return waiting_without_slots_.empty() && waiting_with_slots_.empty();
  }
  [[nodiscard]] User* next_in_queue();
  /// Seconds in which somebody waited.
  [[nodiscard]] double contended() const;
  void offer();

  const Clock& clock_;
  std::size_t limit_;
  std::size_t used_ = 0;
  double min_usage_ = 0;  ///< of those in line, when one was last served: never less than before
  // Who waits. What one has had grows only while it holds places, and few do, however many wait.
  std::set<User*, MinUsageFirst> waiting_without_slots_;
  std::vector<User*> waiting_with_slots_;  ///< in no order: who is next depends on what each holds
  std::uint64_t joins_ = 0;
  double contended_ = 0;   ///< until somebody came to the line last
  Instant queue_since_{};  ///< while there is somebody
  bool offering_ = false;
  User* asked_ = nullptr;  ///< by an offer: null if it ends meanwhile
};

}  // namespace w8y
