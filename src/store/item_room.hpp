// Memory for long items, which all lists of a host share.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

namespace w8y::store {

/// What this host holds of items, from the claim until Redis has confirmed the run's end. A list
/// that holds little is never kept waiting by the long items of others; all others share one bound.
/// Each has an equal part of it, and whoever finds no room is told when there is some, those who
/// have waited longest first. One item is always held, however long.
class ItemRoom {
 public:
  static constexpr std::size_t most = std::size_t{256} << 20;
  /// What a list holds that takes no part in this.
  static constexpr std::size_t little = std::size_t{1} << 20;

  explicit ItemRoom(std::size_t bound = most) : bound_(bound) {}
  ItemRoom(const ItemRoom&) = delete;
  ItemRoom& operator=(const ItemRoom&) = delete;

  class Member;

  /// An item that is held, as long as this lives.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : member_(std::exchange(other.member_, nullptr)), bytes_(other.bytes_) {}
    Hold& operator=(Hold&& other) noexcept;
    ~Hold();

   private:
    friend class Member;
    Hold(Member& member, std::size_t bytes);
    Member* member_ = nullptr;
    std::size_t bytes_ = 0;
  };

  /// A list. Outlives its holds.
  class Member {
   public:
    /// `has_room` is told when admit() may say yes, from wherever an item is let go: not the place
    /// to do more than to note it.
    Member(ItemRoom& room, std::function<void()> has_room)
        : room_(room), has_room_(std::move(has_room)) {}
    ~Member() { leave(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Whether a claim may be made whose items have up to `longest` bytes, as far as is known, by a
    /// list that may hold `own_most` in all; if not, it waits in line. on_reply() follows.
    [[nodiscard]] bool admit(std::size_t longest, std::size_t own_most);
    /// The claim is over: what came of it is held.
    void answered();
    /// It does not wait any more.
    void leave();
    [[nodiscard]] Hold hold(std::size_t bytes) { return {*this, bytes}; }
    [[nodiscard]] std::size_t held() const { return held_; }
    [[nodiscard]] bool waits() const { return waits_; }

   private:
    friend class ItemRoom;
    friend class Hold;
    [[nodiscard]] bool fits() const;

    ItemRoom& room_;
    std::function<void()> has_room_;
    std::size_t held_ = 0;
    std::size_t asked_ = 0;  ///< by a claim that is out
    std::size_t longest_ = 0;
    std::size_t own_most_ = 0;
    bool waits_ = false;
  };

  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  void let_go();

  const std::size_t bound_;
  std::size_t held_ = 0;
  std::size_t asked_ = 0;
  std::size_t large_ = 0;  ///< members that hold more than little
  std::list<Member*> waiting_;
};

}  // namespace w8y::store
