#include "store/server_clock.hpp"

#include <utility>

#include "redis/reply.hpp"

namespace w8y::store {

ServerClock::ServerClock(redis::Client& client, TimerQueue& timers, const Clock& clock,
                         bool cluster)
    : client_(client),
      clock_(clock),
      cluster_(cluster),
      timer_(timers),
      alive_(std::make_shared<bool>(true)) {}

ServerClock::~ServerClock() {
  *alive_ = false;
}

void ServerClock::start() {
  if (!cluster_) ask();
}

void ServerClock::wait() {
  timer_.set(clock_.now() + interval, [this] { ask(); });
}

void ServerClock::ask() {
  if (!client_.connected()) return;  // start() is called again
  wait();
  client_.call({"TIME"}, [this, alive = alive_, asked = clock_.now()](const redis::Answer& answer) {
    if (*alive && answer.ok() && answer.reply.size() == 2)
      note(redis::server_time(answer.reply), asked, clock_.now());
  });
}

void ServerClock::note(WallTime time, Instant asked, Instant answered) {
  if (cluster_ || answered - asked > longest_trip) return;
  wait();  // TIME is not needed until the next interval has passed
  const Instant middle = asked + (answered - asked) / 2;
  const Duration offset = Duration(time) - middle.time_since_epoch();
  const Duration by = offset - offset_.value_or(offset);
  const Instant before = std::exchange(last_reply_, answered);
  offset_ = offset;
  const Duration size = by < Duration{0} ? -by : by;
  if (size <= tolerance) return;
  last_jump_ = Jump{by, answered, before};
  listeners_.for_each([&jump = *last_jump_](Listener& listener) { listener.on_clock_jump(jump); });
}

}  // namespace w8y::store
