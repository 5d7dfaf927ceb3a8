#include "app/drain.hpp"

namespace w8y::app {

void Drain::order(const std::string& why) {
  ++orders_;
  report(why);
  switch (state_) {
    case DrainState::not_started:
      set_state(DrainState::draining);
      steps_.start_drain();
      [[fallthrough]];
    case DrainState::draining:
      return steps_.drain_lists([this] { drained(); });
    case DrainState::stopping_streams:
      return steps_.kill_streams();
    case DrainState::cleaning_up:
    case DrainState::done:
      break;
  }
}

void Drain::report(const std::string& why) {
  const std::size_t running = steps_.running();
  switch (orders_) {
    case 1:
      return events_.on_event(HostChanged{HostState::draining, why, running});
    case 2:
      return events_.on_event(RunsSignalled{false, why + " again", running});
    default:
      events_.on_event(RunsSignalled{true, why + " once more", running});
  }
}

void Drain::drained() {
  if (state_ != DrainState::draining) return;
  set_state(DrainState::stopping_streams);
  steps_.when_no_streams([this] { streams_gone(); });
}

void Drain::streams_gone() {
  set_state(DrainState::cleaning_up);
  steps_.kill_orphans();
  steps_.end_redis([this] {
    set_state(DrainState::done);
    steps_.end_loop();
  });
}

}  // namespace w8y::app
