#include "core/slot_pool.hpp"

#include <algorithm>
#include <limits>

namespace w8y {

namespace {

/// What taking a place counts at once, in seconds of it: users that are equal take turns, and those
/// whose runs end within the clock's grain are not served for nothing.
constexpr double turn = 1e-6;

}  // namespace

Places::User::User(Places& places, unsigned weight)
    : places_(places), weight_(std::max(weight, 1U)), accounted_(places.contended()) {}

Places::User::~User() {
  if (places_.asked_ == this) places_.asked_ = nullptr;
  stand_in_line(false);
  places_.used_ -= held_;
  places_.offer();
}

void Places::User::set_weight(unsigned weight) {
  account();
  weight_ = std::max(weight, 1U);
}

void Places::User::account() {
  const double now = places_.contended();
  had_ += static_cast<double>(held_) * (now - accounted_) / weight_;
  accounted_ = now;
}

void Places::User::stand_in_line(bool waiting) {
  if (waiting == waiting_) return;
  waiting_ = waiting;
  if (waiting) {
    account();
    had_ = std::max(had_, places_.least_had_);
    if (places_.nobody_waits()) places_.line_since_ = places_.clock_.now();
    came_ = ++places_.came_;
    enter_line();
  } else {
    const double contended = places_.contended();
    leave_line();
    if (places_.nobody_waits()) places_.contended_ = contended;
  }
}

void Places::User::enter_line() {
  held_ == 0 ? (void)places_.without_.insert(this) : places_.with_.push_back(this);
}

void Places::User::leave_line() {
  held_ == 0 ? (void)places_.without_.erase(this) : (void)std::erase(places_.with_, this);
}

/// By one that is in the line.
void Places::User::hold(std::size_t places) {
  account();
  leave_line();
  had_ += static_cast<double>(places) * turn / weight_;
  held_ += places;
  places_.used_ += places;
  enter_line();
}

std::size_t Places::User::take(std::size_t wanted) {
  std::size_t given = 0;
  if (places_.limit_ == 0) {
    account();
    stand_in_line(false);
    given = wanted;
    held_ += given;
    places_.used_ += given;
  } else {
    // Who comes, or comes back: what the others have had by now is where it begins.
    if (!waiting_ && held_ == 0) static_cast<void>(places_.next_in_line());
    // One at a time while others wait.
    stand_in_line(true);
    for (; given < wanted && places_.free() > 0 && places_.next_in_line() == this; ++given) hold(1);
  }
  stand_in_line(given < wanted);
  return given;
}

void Places::User::give_back(std::size_t count) {
  account();
  if (waiting_) leave_line();
  held_ -= count;
  places_.used_ -= count;
  if (waiting_) enter_line();
  // It may want the place for its next run, and is asked when it is its turn; else the place would
  // always be another's.
  if (places_.limit_ != 0) stand_in_line(true);
  places_.offer();
}

void Places::User::want_nothing() {
  if (!waiting_) return;
  stand_in_line(false);
  places_.offer();  // the one behind it may be served now
}

void Places::set_limit(std::size_t limit) {
  limit_ = limit;
  offer();
}

std::size_t Places::free() const {
  if (limit_ == 0) return std::numeric_limits<std::size_t>::max();
  return limit_ > used_ ? limit_ - used_ : 0;
}

double Places::contended() const {
  if (nobody_waits()) return contended_;
  return contended_ + std::chrono::duration<double>(clock_.now() - line_since_).count();
}

bool Places::LeastFirst::operator()(const User* a, const User* b) const {
  return a->had_ != b->had_ ? a->had_ < b->had_ : a->came_ < b->came_;
}

Places::User* Places::next_in_line() {
  User* best = without_.empty() ? nullptr : *without_.begin();
  for (User* user : with_) {
    user->account();
    if (best == nullptr || LeastFirst()(user, best)) best = user;
  }
  if (best != nullptr) least_had_ = std::max(least_had_, best->had_);
  return best;
}

void Places::offer() {
  if (offering_) return;  // the outer one goes on until nobody can be served
  offering_ = true;
  while (free() > 0) {
    User* user = next_in_line();
    if (user == nullptr) break;
    const std::size_t held = user->held_;
    asked_ = user;
    user->place_free();
    // One that has taken nothing, and is not gone, would be asked for ever.
    if (asked_ != nullptr && user->waiting_ && user->held_ == held && next_in_line() == user)
      user->stand_in_line(false);
  }
  offering_ = false;
}

}  // namespace w8y
