// The limit that all lists of a host share: `host_concurrency`, divided by weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/clock.hpp"

namespace w8y {

/// Pool of run slots, shared fairly by weight. A user acquires slots, and releases each slot when
/// its run has ended.
///
/// When all slots are in use, the next free slot goes to the waiting user with the lowest usage:
/// slot time divided by weight. Every waiting user is therefore served, regardless of the duration
/// of other runs. Shares follow the weights even if there are fewer slots than users, or if
/// durations differ.
///
/// Slot time counts only while a user waits, so that the use of idle slots is not held against a
/// user. A user that joins the queue starts with at least the usage of the user that was last
/// served.
///
/// Invariant outside of calls: either no slot is free or no user waits.
class SlotPool {
 public:
  class User {
   public:
    User(SlotPool& places, unsigned weight);
    virtual ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

    /// Acquires up to `wanted` slots immediately. If it gets fewer, the user joins the queue, and
    /// `on_slot_free()` is called once when a slot is free for it.
    std::size_t acquire(std::size_t wanted);
    /// Releases slots and joins the queue: on_slot_free() may be called inside this call.
    void release(std::size_t count);
    /// Leaves the queue, because the user has nothing to run.
    void leave_queue();
    void set_weight(unsigned weight);
    [[nodiscard]] std::size_t held() const { return held_; }

   protected:
    /// Called when a slot may be free; the user should call acquire(). A user that acquires nothing
    /// leaves the queue. Called inside release() of any user or the destructor of another user,
    /// never inside acquire() of this user.
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
    bool waiting_ = false;  ///< whether it is in the queue
    std::size_t held_ = 0;
    double usage_ = 0;          ///< slot time in seconds, divided by weight, up to accounted_
    double accounted_;          ///< in seconds of SlotPool::contended()
    std::uint64_t joined_ = 0;  ///< sequence number of joining; breaks ties in usage
  };

  /// `limit` 0 = no limit.
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
  /// Returns the total time in seconds during which a user waited.
  [[nodiscard]] double contended() const;
  void offer();

  const Clock& clock_;
  std::size_t limit_;
  std::size_t used_ = 0;
  double min_usage_ = 0;  ///< usage of the waiting user that was last served; never decreases
  // Waiting users. Usage grows only while a user holds slots, and few waiting users do.
  std::set<User*, MinUsageFirst> waiting_without_slots_;
  std::vector<User*> waiting_with_slots_;  ///< not sorted: their order changes with time
  std::uint64_t joins_ = 0;
  double contended_ = 0;   ///< up to the last time at which the queue became non-empty
  Instant queue_since_{};  ///< time at which the queue became non-empty; valid unless it is empty
  bool offering_ = false;
  User* requested_ = nullptr;  ///< by an offer; nullptr if that user is destroyed meanwhile
};

}  // namespace w8y
