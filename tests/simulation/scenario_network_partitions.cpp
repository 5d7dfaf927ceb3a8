// Scene: hosts that are cut off at the worst moments: when they have just taken an item, so that
// its lease is over before its end is told; and when they have just heard that a lock is gone.
#include <algorithm>

#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Before a connection that does not answer is given up, and what waits on it with it.
constexpr Duration max_wait_of_call = 4900ms;

}  // namespace

void Scenario::start_lapse(const Fault& fault) {
  const auto cut = [this, &fault](Duration life) { cut_off(fault, life); };
  if (fault.kind == Fault::Kind::lapse) return promises_.at_next_claim(fault.host, cut);
  promises_.at_next_gone(fault.host, cut);
}

/// For longer than a lease lives: others take what it has. All that it sends meanwhile comes in the
/// end, unless its connection has been given up by then.
void Scenario::cut_off(const Fault& fault, Duration life) {
  Duration time = life + life * static_cast<std::int64_t>(fault.number % 100) / 100;
  if (fault.kind == Fault::Kind::late_retake) time = std::min(time, max_wait_of_call);
  if (world_.age() + time > options_.scale.time - Scale::calm) return;
  world_.log("fault", "",
             fault.host + " is cut off for " + std::to_string(time.count() / 1000) + " ms");
  promises_.error(fault.host, time);
  Line& line = network_.line(fault.host, fault.server);
  line.held = true;
  world_.after(time, [&line] { line.held = false; });
}

}  // namespace w8y::sim
