// Memory for long items, which all lists of a host share.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace w8y::store {

/// Limits the memory for items that this host holds, from the claim until Redis has confirmed the
/// settlement. A list that holds at most `little` bytes never waits for the long items of others.
/// All other lists share one bound, each with a fair share. A list without room waits and is
/// notified when there is room; the list that has waited longest is first. One item is always
/// admitted, regardless of its length.
class ItemRoom {
 public:
  static constexpr std::size_t most = std::size_t{256} << 20;
  /// Bytes that a list may hold without counting as large.
  static constexpr std::size_t little = std::size_t{1} << 20;

  explicit ItemRoom(std::size_t bound = most) : bound_(bound) {}
  ItemRoom(const ItemRoom&) = delete;
  ItemRoom& operator=(const ItemRoom&) = delete;

  class Member;

  struct Release {
    std::size_t bytes = 0;
    void operator()(Member* member) const;
  };
  /// Reservation for one item that is held. It ends with this object.
  using Hold = std::unique_ptr<Member, Release>;

  /// One list. Must outlive its reservations.
  class Member {
   public:
    /// `has_room` is called when admit() may return true. The call can come from any place that
    /// frees an item, so the callback must only set a flag or a timer.
    Member(ItemRoom& room, std::function<void()> has_room)
        : room_(room), has_room_(std::move(has_room)) {}
    ~Member() { leave(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Returns whether a claim may be made. `longest`: expected maximum length of its items in
    /// bytes; `own_most`: maximum that this list may hold. If true, answered() must follow. If
    /// false, the list waits.
    [[nodiscard]] bool admit(std::size_t longest, std::size_t own_most);
    /// Called when the claim has ended. Its items are reserved with hold().
    void answered();
    /// Stops waiting.
    void leave();
    [[nodiscard]] Hold hold(std::size_t bytes);
    [[nodiscard]] std::size_t held() const { return held_; }
    [[nodiscard]] bool waits() const { return waits_; }

   private:
    friend class ItemRoom;
    friend struct Release;
    [[nodiscard]] bool fits() const;

    ItemRoom& room_;
    std::function<void()> has_room_;
    std::size_t held_ = 0;
    std::size_t asked_ = 0;  ///< bytes expected by the claim in flight
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
  std::size_t large_ = 0;  ///< number of members that hold more than `little`
  std::list<Member*> waiting_;
};

}  // namespace w8y::store
