#include "store/item_room.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace w8y::store {

ItemRoom::Hold ItemRoom::Member::hold(std::size_t bytes) {
  const bool was_large = held_ > little;
  held_ += bytes;
  room_.held_ += bytes;
  if (!was_large && held_ > little) ++room_.large_;
  return {this, Release{bytes}};
}

void ItemRoom::Release::operator()(Member* member) const {
  ItemRoom& room = member->room_;
  const bool was_large = member->held_ > little;
  member->held_ -= bytes;
  room.held_ -= bytes;
  if (was_large && member->held_ <= little) --room.large_;
  room.let_go();
}

bool ItemRoom::Member::fits() const {
  if (held_ >= own_most_) return false;
  if (held_ + longest_ <= little) return true;
  const std::size_t taken = room_.held_ + room_.asked_;
  if (room_.large_ == 0 && room_.asked_ == 0) return true;
  //   Bytes reserved for members that have waited longer.
  std::size_t promised = 0;
  std::size_t sharers = room_.large_ + (held_ > little ? 0 : 1);
  bool before = true;
  for (const Member* other : room_.waiting_) {
    before = before && other != this;
    if (other == this) continue;
    if (other->held_ <= little) ++sharers;
    if (before && other->held_ < room_.bound_ / sharers) promised += other->longest_;
  }
  return taken + promised + longest_ <= room_.bound_ && held_ < room_.bound_ / sharers;
}

bool ItemRoom::Member::admit(std::size_t longest, std::size_t own_most) {
  room_.asked_ -= std::exchange(asked_, 0);
  longest_ = longest;
  own_most_ = own_most;
  if (!fits()) {
    if (!std::exchange(waits_, true)) room_.waiting_.push_back(this);
    return false;
  }
  leave();
  asked_ = longest > little ? longest : 0;
  room_.asked_ += asked_;
  return true;
}

void ItemRoom::Member::answered() {
  room_.asked_ -= std::exchange(asked_, 0);
  room_.let_go();
}

void ItemRoom::Member::leave() {
  room_.asked_ -= std::exchange(asked_, 0);
  if (std::exchange(waits_, false)) room_.waiting_.remove(this);
}

void ItemRoom::let_go() {
  if (waiting_.empty()) return;
  std::vector<Member*> told;
  for (Member* member : waiting_)
    if (member->fits()) told.push_back(member);
  for (Member* member : told) member->has_room_();
}

}  // namespace w8y::store
