#include <algorithm>
#include <limits>

#include <w8y/places.hpp>

namespace w8y {

namespace {

/// What taking a place counts at once, in seconds of it: users that are equal take turns, and those
/// whose runs end within the clock's grain are not served for nothing.
constexpr double turn = 1e-6;

}  // namespace

Places::User::User(Places& places, unsigned weight)
    : places_(places), weight_(std::max(weight, 1U)), accounted_(places.contended()) {}

Places::User::~User() {
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
    if (places_.line_.empty()) places_.line_since_ = places_.clock_.now();
    places_.line_.push_back(this);
  } else {
    const double contended = places_.contended();
    places_.line_.erase(std::find(places_.line_.begin(), places_.line_.end(), this));
    if (places_.line_.empty()) places_.contended_ = contended;
  }
}

void Places::User::hold(std::size_t places) {
  account();
  had_ += static_cast<double>(places) * turn / weight_;
  held_ += places;
  places_.used_ += places;
}

std::size_t Places::User::take(std::size_t wanted) {
  std::size_t given = 0;
  if (places_.limit_ == 0) {
    account();
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
  held_ -= count;
  places_.used_ -= count;
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
  if (line_.empty()) return contended_;
  return contended_ + std::chrono::duration<double>(clock_.now() - line_since_).count();
}

Places::User* Places::next_in_line() {
  User* best = nullptr;
  for (User* user : line_) {
    user->account();
    if (best == nullptr || user->had_ < best->had_) best = user;
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
    user->place_free();
    // One that has taken nothing, and is not gone, would be asked for ever.
    const auto place = std::find(line_.begin(), line_.end(), user);
    if (place != line_.end() && user->held_ == held && next_in_line() == user)
      user->stand_in_line(false);
  }
  offering_ = false;
}

}  // namespace w8y
