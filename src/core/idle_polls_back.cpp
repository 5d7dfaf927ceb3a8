// IdlePolls: admission of sleepers after a reconnect.
#include <algorithm>

#include "core/idle_polls.hpp"

namespace w8y {

void IdlePolls::Sleeper::come_back() {
  if (back_ == Back::waiting) return;
  been_back();
  go_apart();
  back_ = Back::waiting;
  polls_.back_.push_back(this);
  polls_.let_back();
}

bool IdlePolls::Sleeper::come_in() {
  if (back_ == Back::at_it) return true;
  if (back_ == Back::no && polls_.back_.empty() && polls_.backs_out_ < polls_.backs_at_once_) {
    polls_.let_in(*this);
    return true;
  }
  come_back();
  return false;
}

void IdlePolls::Sleeper::been_back() {
  if (back_ != Back::at_it) return;
  back_ = Back::no;
  --polls_.backs_out_;
  polls_.record_back(*this);
  polls_.let_back();
}

void IdlePolls::let_in(Sleeper& sleeper) {
  sleeper.back_ = Sleeper::Back::at_it;
  ++backs_out_;
  if (timed_ != nullptr) return;
  timed_ = &sleeper;
  timed_since_ = clock_.now();
}

void IdlePolls::record_back(const Sleeper& sleeper) {
  if (timed_ == &sleeper) {
    timed_ = nullptr;
    const Duration took = clock_.now() - timed_since_;
    if (took <= soon_back) backs_at_once_ = std::min(backs_at_once_ * 2, most_back);
    if (took >= late_back) backs_at_once_ = std::max(backs_at_once_ / 2, least_back);
  }
  if (backs_out_ == 0 && back_.empty()) backs_at_once_ = least_back;
}

/// Called from the loop, because an admitted sleeper may be inside a call of its own.
void IdlePolls::let_back() {
  if (back_.empty() || backs_out_ >= backs_at_once_ || back_timer_.pending()) return;
  back_timer_.set(clock_.now(), [this] {
    while (!back_.empty() && backs_out_ < backs_at_once_) {
      Sleeper* sleeper = back_.front();
      back_.pop_front();
      let_in(*sleeper);
      sleeper->back_due();
    }
  });
}

}  // namespace w8y
