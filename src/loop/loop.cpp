#include "loop/loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace w8y::loop {

namespace {

/// Maximum number of passes over the due timers in one loop iteration. A timer set to now() by a
/// callback of such a timer runs in the same iteration, since waiting for the timerfd takes five
/// system calls. The limit leaves time for the descriptors.
constexpr int max_rounds = 8;

Duration read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(time.tv_sec) +
                                              std::chrono::nanoseconds(time.tv_nsec));
}

const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace

Instant SystemClock::now() const {
  return Instant(read_clock(CLOCK_BOOTTIME));
}

WallTime SystemClock::wall() const {
  return std::chrono::duration_cast<WallTime>(read_clock(CLOCK_REALTIME));
}

Loop::Loop() : Loop(system_clock()) {}

Loop::Loop(const Clock& clock) : clock_(clock), walking_(before_wait_.end()) {
  timer_fd_ = Fd(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_fd_) throw std::system_error(errno, std::generic_category(), "timerfd_create");
  timer_watch_ =
      std::make_unique<Watch>(*this, timer_fd_.get(), [this](bool, bool) { on_timer(); });
  timer_watch_->keep_loop_alive(false);
  timer_watch_->want(true, false);
}

Loop::~Loop() {
  timer_watch_.reset();
  uv_.reset();
}

uv_loop_t* Loop::uv() {
  if (!uv_) uv_ = std::make_unique<EmbeddedUvLoop>(*this);
  return uv_->get();
}

bool Loop::alive() {
  return polls_.held() || timers_.next() || (uv_ && uv_->alive());
}

void Loop::run() {
  while (!stopped_ && alive()) iterate_once(true);
  stopped_ = false;
}

void Loop::iterate(bool wait) {
  in_turn_ = true;
  iterate_once(wait);
  in_turn_ = stopped_ = false;
}

void Loop::stop() {
  stopped_ = true;
}

void Loop::iterate_once(bool wait) noexcept {
  timer_ran_ = false;
  const bool uv_ran = uv_ && uv_->has_to_run();
  if (uv_ran) uv_->turn();
  step();
  arm();
  // Without this check, a caller that iterates until a condition is true would wait for an event
  // that may never come.
  const bool came = (in_turn_ && (timer_ran_ || uv_ran)) || stopped_ || (uv_ && uv_->has_to_run());
  polls_.poll(wait && !came && alive());
}

void Loop::step() {
  // Runs due timers without waiting for the timerfd. The hooks follow, because they write the
  // output of the callbacks of timers.
  for (int round = 0; round < max_rounds; ++round) {
    const auto next = timers_.next();
    if (!next) break;
    const Instant at = now();
    if (*next > at) break;
    timers_.run_due(at);
    timer_ran_ = true;
  }
  for (walking_ = before_wait_.begin(); walking_ != before_wait_.end();) {
    BeforeWait* hook = *walking_++;
    hook->callback_();
  }
}

void Loop::arm() {
  const auto next = timers_.next();
  // One early wake-up costs less than a system call for each timer that is set and cancelled.
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  itimerspec spec{};
  // Zero would disarm the timer. A deadline in the past fires at once.
  const auto since = std::max(next->time_since_epoch(), Duration(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
  timerfd_settime(timer_fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Loop::on_timer() noexcept {
  std::uint64_t expirations = 0;
  if (read(timer_fd_.get(), &expirations, sizeof expirations) < 0 && errno == EAGAIN) return;
  const Instant woken = now();
  if (armed_) lag_.add(woken - *armed_);
  armed_.reset();
  timers_.run_due(woken);
}

Loop::BeforeWait::BeforeWait(Loop& loop, std::function<void()> callback)
    : loop_(loop),
      callback_(std::move(callback)),
      place_(loop.before_wait_.insert(loop.before_wait_.end(), this)) {}

Loop::BeforeWait::~BeforeWait() {
  if (loop_.walking_ == place_) ++loop_.walking_;
  loop_.before_wait_.erase(place_);
}

}  // namespace w8y::loop
