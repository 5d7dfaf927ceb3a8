#include "core/slot_pool.hpp"

#include <algorithm>
#include <limits>

namespace w8y {

namespace {

/// Usage in seconds that acquiring a slot adds immediately. Users with equal usage alternate, and
/// runs that are shorter than the clock's resolution still count.
constexpr double turn = 1e-6;

}  // namespace

SlotPool::User::User(SlotPool& places, unsigned weight)
    : pool_(places), weight_(std::max(weight, 1U)), accounted_(places.contended()) {}

SlotPool::User::~User() {
  if (pool_.requested_ == this) pool_.requested_ = nullptr;
  set_waiting(false);
  pool_.used_ -= held_;
  pool_.offer();
}

void SlotPool::User::set_weight(unsigned weight) {
  account();
  weight_ = std::max(weight, 1U);
}

void SlotPool::User::account() {
  const double now = pool_.contended();
  usage_ += static_cast<double>(held_) * (now - accounted_) / weight_;
  accounted_ = now;
}

void SlotPool::User::set_waiting(bool waiting) {
  if (waiting == waiting_) return;
  waiting_ = waiting;
  if (waiting) {
    account();
    usage_ = std::max(usage_, pool_.min_usage_);
    if (pool_.has_no_waiter()) pool_.queue_since_ = pool_.clock_.now();
    joined_ = ++pool_.joins_;
    join_queue();
  } else {
    const double contended = pool_.contended();
    quit_queue();
    if (pool_.has_no_waiter()) pool_.contended_ = contended;
  }
}

void SlotPool::User::join_queue() {
  held_ == 0 ? (void)pool_.waiting_without_slots_.insert(this)
             : pool_.waiting_with_slots_.push_back(this);
}

void SlotPool::User::quit_queue() {
  held_ == 0 ? (void)pool_.waiting_without_slots_.erase(this)
             : (void)std::erase(pool_.waiting_with_slots_, this);
}

/// Called while the user is in the queue.
void SlotPool::User::hold(std::size_t places) {
  account();
  quit_queue();
  usage_ += static_cast<double>(places) * turn / weight_;
  held_ += places;
  pool_.used_ += places;
  join_queue();
}

std::size_t SlotPool::User::acquire(std::size_t wanted) {
  std::size_t given = 0;
  if (pool_.limit_ == 0) {
    account();
    set_waiting(false);
    given = wanted;
    held_ += given;
    pool_.used_ += given;
  } else {
    // A user that joins or returns starts with the current usage of the others.
    if (!waiting_ && held_ == 0) static_cast<void>(pool_.next_in_queue());
    // One slot at a time while other users wait.
    set_waiting(true);
    for (; given < wanted && pool_.free() > 0 && pool_.next_in_queue() == this; ++given) hold(1);
  }
  set_waiting(given < wanted);
  return given;
}

void SlotPool::User::release(std::size_t count) {
  account();
  if (waiting_) quit_queue();
  held_ -= count;
  pool_.used_ -= count;
  if (waiting_) join_queue();
  // The user may need the slot for its next run, so it joins the queue. Otherwise another user
  // would always get the slot.
  if (pool_.limit_ != 0) set_waiting(true);
  pool_.offer();
}

void SlotPool::User::leave_queue() {
  if (!waiting_) return;
  set_waiting(false);
  pool_.offer();  // the next user may be served now
}

void SlotPool::set_limit(std::size_t limit) {
  limit_ = limit;
  offer();
}

std::size_t SlotPool::free() const {
  if (limit_ == 0) return std::numeric_limits<std::size_t>::max();
  return limit_ > used_ ? limit_ - used_ : 0;
}

double SlotPool::contended() const {
  if (has_no_waiter()) return contended_;
  return contended_ + std::chrono::duration<double>(clock_.now() - queue_since_).count();
}

bool SlotPool::MinUsageFirst::operator()(const User* a, const User* b) const {
  return a->usage_ != b->usage_ ? a->usage_ < b->usage_ : a->joined_ < b->joined_;
}

SlotPool::User* SlotPool::next_in_queue() {
  User* best = waiting_without_slots_.empty() ? nullptr : *waiting_without_slots_.begin();
  for (User* user : waiting_with_slots_) {
    user->account();
    if (best == nullptr || MinUsageFirst()(user, best)) best = user;
  }
  if (best != nullptr) min_usage_ = std::max(min_usage_, best->usage_);
  return best;
}

void SlotPool::offer() {
  if (offering_) return;  // the outer call continues until no user can be served
  offering_ = true;
  while (free() > 0) {
    User* user = next_in_queue();
    if (user == nullptr) break;
    const std::size_t held = user->held_;
    requested_ = user;
    user->on_slot_free();
    // A user that has acquired nothing and still exists would be called in an endless loop.
    if (requested_ != nullptr && user->waiting_ && user->held_ == held && next_in_queue() == user)
      user->set_waiting(false);
  }
  offering_ = false;
}

}  // namespace w8y
