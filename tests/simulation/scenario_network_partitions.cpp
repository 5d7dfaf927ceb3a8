// Scenario: hosts that are cut off at the worst moments. They are cut off right after a claim, so
// that the lease expires before the settlement, or right after a renewal has reported that a lock
// is gone.
#include <algorithm>

#include "simulation/scenario.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;

/// Less than command_timeout, after which a host closes an unresponsive connection with its
/// requests.
constexpr Duration max_wait_of_call = 4900ms;

}  // namespace

void Scenario::start_lapse(const Fault& fault) {
  const auto cut = [this, &fault](Duration life) { cut_off(fault, life); };
  if (fault.kind == Fault::Kind::lapse) return promises_.at_next_claim(fault.host, cut);
  promises_.at_next_gone(fault.host, cut);
}

/// Cuts a host off for longer than its lease, so that other hosts claim its items. Its data arrives
/// afterwards, unless it has closed the connection by then.
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
