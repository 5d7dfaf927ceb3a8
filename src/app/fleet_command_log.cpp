#include "app/fleet_command_log.hpp"

#include <utility>

namespace w8y::app {

namespace {

constexpr LineRate ignored_rate{std::chrono::minutes(1), 1};
/// Time from the first dropped line to the line with the number of dropped lines.
constexpr Duration coalescing_time = std::chrono::seconds(10);
constexpr const char* anything = "";

/// Returns whether to log a line. Adds the number of lines dropped before it to `dropped`.
bool admits(LineLimits& limits, const char* kind, std::map<std::string, std::size_t>& dropped) {
  const LineLimits::Answer answer = limits.admit(kind);
  if (answer.left_out > 0) dropped[kind] += answer.left_out;
  return answer.admitted;
}

}  // namespace

FleetCommandLog::FleetCommandLog(ops::LineLog& log, const Clock& clock, TimerQueue& timers)
    : log_(log),
      clock_(clock),
      received_(clock, command_rate),
      ignored_(clock, ignored_rate),
      timer_(timers) {}

FleetCommandLog::~FleetCommandLog() {
  log_omitted();
}

void FleetCommandLog::received(const FleetCommand& order) {
  const char* const name = command_name(order.kind);
  if (!admits(received_, name, not_logged_)) return arm();
  log_.info("fleet command received", {{"command", name}, {"by", order.by}, {"id", order.id}});
}

void FleetCommandLog::ignored(const std::string& channel, const std::string& why) {
  if (!admits(ignored_, anything, ignored_not_logged_)) return arm();
  log_.warn("invalid fleet command ignored", {{"channel", channel}, {"reason", why}});
}

void FleetCommandLog::dropped_reply() {
  ++dropped_replies_;
  arm();
}

void FleetCommandLog::arm() {
  if (!timer_.pending()) timer_.set(clock_.now() + coalescing_time, [this] { log_omitted(); });
}

void FleetCommandLog::log_omitted() {
  for (const auto& [order, count] : received_.drain_omitted()) not_logged_[order] += count;
  for (const auto& [any, count] : ignored_.drain_omitted()) ignored_not_logged_[any] += count;
  for (const auto& [order, count] : std::exchange(not_logged_, {}))
    log_.warn("fleet commands not logged", {{"command", order}, {"dropped_lines", count}});
  for (const auto& [any, count] : std::exchange(ignored_not_logged_, {}))
    log_.warn("invalid fleet commands not logged", {{"dropped_lines", count}});
  if (const std::size_t count = std::exchange(dropped_replies_, 0); count > 0)
    log_.warn("fleet command replies not sent, Redis too slow", {{"dropped_replies", count}});
}

}  // namespace w8y::app
