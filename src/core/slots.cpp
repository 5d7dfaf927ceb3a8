#include <algorithm>
#include <limits>

#include <w8y/slots.hpp>

namespace w8y {

namespace {

/// What taking a place counts at once, in seconds of it: users that are equal take turns, and those
/// whose runs end within the clock's grain are not served for nothing.
constexpr double turn = 1e-6;

}  // namespace

Slots::User::User(Slots& slots, unsigned weight)
    : slots_(slots), weight_(std::max(weight, 1U)), accounted_(slots.contended()) {}

Slots::User::~User() {
  stand_in_line(false);
  slots_.used_ -= held_;
  slots_.offer();
}

void Slots::User::set_weight(unsigned weight) {
  account();
  weight_ = std::max(weight, 1U);
}

void Slots::User::account() {
  const double now = slots_.contended();
  had_ += static_cast<double>(held_) * (now - accounted_) / weight_;
  accounted_ = now;
}

void Slots::User::stand_in_line(bool waiting) {
  if (waiting == waiting_) return;
  waiting_ = waiting;
  if (waiting) {
    account();
    had_ = std::max(had_, slots_.least_had_);
    if (slots_.line_.empty()) slots_.line_since_ = slots_.clock_.now();
    slots_.line_.push_back(this);
  } else {
    const double contended = slots_.contended();
    slots_.line_.erase(std::find(slots_.line_.begin(), slots_.line_.end(), this));
    if (slots_.line_.empty()) slots_.contended_ = contended;
  }
}

void Slots::User::hold(std::size_t places) {
  account();
  had_ += static_cast<double>(places) * turn / weight_;
  held_ += places;
  slots_.used_ += places;
}

std::size_t Slots::User::take(std::size_t wanted) {
  std::size_t given = 0;
  if (slots_.limit_ == 0) {
    account();
    given = wanted;
    held_ += given;
    slots_.used_ += given;
  } else {
    // Who comes, or comes back: what the others have had by now is where it begins.
    if (!waiting_ && held_ == 0) static_cast<void>(slots_.next_in_line());
    // One at a time while others wait.
    stand_in_line(true);
    for (; given < wanted && slots_.free() > 0 && slots_.next_in_line() == this; ++given) hold(1);
  }
  stand_in_line(given < wanted);
  return given;
}

void Slots::User::give_back(std::size_t count) {
  account();
  held_ -= count;
  slots_.used_ -= count;
  // It may want the place for its next run, and is asked when it is its turn; else the place would
  // always be another's.
  if (slots_.limit_ != 0) stand_in_line(true);
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

double Slots::contended() const {
  if (line_.empty()) return contended_;
  return contended_ + std::chrono::duration<double>(clock_.now() - line_since_).count();
}

Slots::User* Slots::next_in_line() {
  User* best = nullptr;
  for (User* user : line_) {
    user->account();
    if (best == nullptr || user->had_ < best->had_) best = user;
  }
  if (best != nullptr) least_had_ = std::max(least_had_, best->had_);
  return best;
}

void Slots::offer() {
  if (offering_) return;  // the outer one goes on until nobody can be served
  offering_ = true;
  while (free() > 0) {
    User* user = next_in_line();
    if (user == nullptr) break;
    const std::size_t held = user->held_;
    user->slot_free();
    // One that has taken nothing, and is not gone, would be asked for ever.
    const auto place = std::find(line_.begin(), line_.end(), user);
    if (place != line_.end() && user->held_ == held && next_in_line() == user)
      user->stand_in_line(false);
  }
  offering_ = false;
}

}  // namespace w8y
