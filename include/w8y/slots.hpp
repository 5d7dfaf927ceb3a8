// The one limit that all lists of a host share: `max_processes`, divided by weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace w8y {

/// Places for running children. A user takes as many as it may and gives each back when its run
/// has ended. When places are short, a freed one goes to the waiting user that holds the fewest
/// per weight (among equals, the one that was served longest ago), so every user that waits is
/// served, however long the others' work is. Outside of a call, either no place is free or nobody
/// waits.
class Slots {
 public:
  class User {
   public:
    User(Slots& slots, unsigned weight);
    virtual ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

    /// Up to `wanted` places, now. If it gets fewer than it wanted, the user waits in line and
    /// `slot_free()` is called once when there is a place for it.
    std::size_t take(std::size_t wanted);
    void give_back(std::size_t count);
    /// Leaves the line: it has nothing to run.
    void want_nothing();
    void set_weight(unsigned weight) { weight_ = weight; }
    [[nodiscard]] std::size_t held() const { return held_; }

   protected:
    /// A place may be free now: call take() again. Runs inside another user's give_back()
    /// (or its end), never inside its own take().
    virtual void slot_free() = 0;

   private:
    friend class Slots;
    void stand_in_line(bool waiting);

    Slots& slots_;
    unsigned weight_;
    std::size_t held_ = 0;
    bool waiting_ = false;      ///< exactly if it is in the line
    std::uint64_t served_ = 0;  ///< when it was last given a place, by count of places given
  };

  /// `limit` 0: no limit.
  explicit Slots(std::size_t limit) : limit_(limit) {}
  void set_limit(std::size_t limit);
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  friend class User;
  [[nodiscard]] std::size_t free() const;
  [[nodiscard]] User* next_in_line() const;
  void offer();

  std::size_t limit_;
  std::size_t used_ = 0;
  std::uint64_t given_ = 0;
  std::vector<User*> line_;  ///< in no order: who is next depends on what each holds
  bool offering_ = false;
};

}  // namespace w8y
