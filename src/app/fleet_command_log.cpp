#include "app/fleet_command_log.hpp"

#include <utility>

namespace w8y::app {

namespace {

constexpr LineRate ignored_rate{std::chrono::minutes(1), 1};
/// From the first line that is left out to the line that says how many were.
constexpr Duration coalescing_time = std::chrono::seconds(10);
constexpr const char* anything = "";

}  // namespace

FleetCommandLog::FleetCommandLog(ops::LineLog& log, const Clock& clock, TimerQueue& timers)
    : log_(log),
      clock_(clock),
      received_(clock, command_rate),
      ignored_(clock, ignored_rate),
      timer_(timers) {}

FleetCommandLog::~FleetCommandLog() {
  tell_left_out();
}

void FleetCommandLog::received(const FleetOrder& order) {
  const char* const name = order_name(order.kind);
  if (!received_.ask(name).admitted) return arm();
  log_.info("an order to the fleet", {{"order", name}, {"by", order.by}, {"id", order.id}});
}

void FleetCommandLog::ignored(const std::string& channel, const std::string& why) {
  if (!ignored_.ask(anything).admitted) return arm();
  log_.warn("ignored an order to the fleet", {{"channel", channel}, {"why", why}});
}

void FleetCommandLog::dropped_reply() {
  ++dropped_replies_;
  arm();
}

void FleetCommandLog::arm() {
  if (!timer_.pending()) timer_.set(clock_.now() + coalescing_time, [this] { tell_left_out(); });
}

void FleetCommandLog::tell_left_out() {
  for (const auto& [order, count] : received_.take_left_out())
    log_.warn("orders to the fleet not logged", {{"order", order}, {"dropped_lines", count}});
  for (const auto& [any, count] : ignored_.take_left_out())
    log_.warn("ignored orders to the fleet not logged", {{"dropped_lines", count}});
  if (const std::size_t count = std::exchange(dropped_replies_, 0); count > 0)
    log_.warn("replies to orders to the fleet not sent: Redis takes them too slowly",
              {{"dropped_replies", count}});
}

}  // namespace w8y::app
