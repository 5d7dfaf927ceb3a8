#include "redis/hash_slot_queue.hpp"

#include <utility>

#include "redis/jitter.hpp"

namespace w8y::redis {

namespace {

constexpr int max_redirections = 5;
/// Two nodes that redirect to each other agree soon, and keys in migration arrive soon.
constexpr Duration pause_before_again = std::chrono::milliseconds(40);
constexpr int redirections_at_once = 2;

}  // namespace

Resend send_again(ClusterCall& call, const HostPort& from, const Answer& answer, Instant now) {
  const ErrorCode code = answer.error();
  call.ask_target.reset();
  if (code != ErrorCode::moved && code != ErrorCode::ask && code != ErrorCode::tryagain)
    return Resend::never;
  if (call.transaction() || call.anywhere || now > call.timeout) return Resend::never;
  if (code == ErrorCode::tryagain) {
    // A script that met such a key halfway is not sent again: it may have changed something.
    if (!answer.reply.text().starts_with("TRYAGAIN")) return Resend::never;
    call.redirections = 0;
    return Resend::delayed;
  }
  if (code == ErrorCode::ask) call.ask_target = redirected_to(answer.reply.text(), from);
  if (++call.redirections > max_redirections) return Resend::never;
  return call.redirections > redirections_at_once ? Resend::delayed : Resend::immediately;
}

HashSlotQueue::HashSlotQueue(const Clock& clock, TimerQueue& timers, std::function<void()> go_on)
    : clock_(clock), send_next_(std::move(go_on)), pause_(timers) {}

const ClusterCall* HashSlotQueue::next() const {
  return back_.empty() && !waiting_.empty() ? waiting_.front().get() : nullptr;
}

HashSlotQueue::Call HashSlotQueue::begin(const ClusterNode& node) {
  node_ = &node;
  ++in_flight_;
  return drop();
}

HashSlotQueue::Call HashSlotQueue::drop() {
  Call call = std::move(waiting_.front());
  waiting_.pop_front();
  return call;
}

void HashSlotQueue::on_reply(Call call, Resend again) {
  --in_flight_;
  if (again != Resend::never) back_.push_back(std::move(call));
  slowly_ = slowly_ || again == Resend::delayed;
  if (in_flight_ > 0 || back_.empty()) return send_next();
  if (!std::exchange(slowly_, false)) return resend();
  pause_.set(clock_.now() + jittered(pause_before_again), [this] { resend(); });
}

void HashSlotQueue::resend() {
  waiting_.insert(waiting_.begin(), back_.begin(), back_.end());
  back_.clear();
  send_next();
}

void HashSlotQueue::send_next() {
  const auto tell = send_next_;  // it may destroy this object
  tell();
}

}  // namespace w8y::redis
