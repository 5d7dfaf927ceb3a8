#include <algorithm>
#include <limits>

#include <w8y/slots.hpp>

namespace w8y {

Slots::User::User(Slots& slots, unsigned weight) : slots_(slots), weight_(std::max(weight, 1U)) {}

Slots::User::~User() {
  stand_in_line(false);
  slots_.used_ -= held_;
  slots_.offer();
}

void Slots::User::stand_in_line(bool waiting) {
  if (waiting == waiting_) return;
  waiting_ = waiting;
  if (waiting) {
    slots_.line_.push_back(this);
  } else {
    slots_.line_.erase(std::find(slots_.line_.begin(), slots_.line_.end(), this));
  }
}

std::size_t Slots::User::take(std::size_t wanted) {
  std::size_t given = 0;
  if (slots_.limit_ == 0) {
    given = wanted;
    held_ += given;
    slots_.used_ += given;
  } else {
    // One at a time while others wait: whoever holds the fewest per weight comes first.
    stand_in_line(true);
    for (; given < wanted && slots_.free() > 0 && slots_.next_in_line() == this; ++given) {
      ++held_;
      ++slots_.used_;
    }
  }
  stand_in_line(given < wanted);
  if (given > 0) served_ = ++slots_.given_;
  return given;
}

void Slots::User::give_back(std::size_t count) {
  held_ -= count;
  slots_.used_ -= count;
  slots_.offer();
}

void Slots::User::want_nothing() {
  if (!waiting_) return;
  stand_in_line(false);
  slots_.offer();  // the one behind it may be served now
}

void Slots::set_limit(std::size_t limit) {
  limit_ = limit;
  offer();
}

std::size_t Slots::free() const {
  if (limit_ == 0) return std::numeric_limits<std::size_t>::max();
  return limit_ > used_ ? limit_ - used_ : 0;
}

Slots::User* Slots::next_in_line() const {
  User* best = nullptr;
  for (User* user : line_) {
    if (best == nullptr) {
      best = user;
      continue;
    }
    const auto load = std::uint64_t{user->held_} * best->weight_;
    const auto best_load = std::uint64_t{best->held_} * user->weight_;
    if (load < best_load || (load == best_load && user->served_ < best->served_)) best = user;
  }
  return best;
}

void Slots::offer() {
  if (offering_) return;  // the outer one goes on until nobody can be served
  offering_ = true;
  while (free() > 0) {
    User* user = next_in_line();
    if (user == nullptr) break;
    user->stand_in_line(false);  // it waits again if it takes fewer than it wants
    user->slot_free();
  }
  offering_ = false;
}

}  // namespace w8y
