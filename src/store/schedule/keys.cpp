#include "store/schedule/keys.hpp"

namespace w8y::store {

ScheduleKeys::ScheduleKeys(const std::string& prefix)
    : schedules(prefix + "-schedules"),
      statuses(prefix + "-statuses"),
      timeline(prefix + "-timeline"),
      control(prefix + "-control"),
      work_prefix(prefix + "-work-") {
  const std::string ours = prefix.empty() ? "" : prefix + ":";
  fence = ours + "fence";
  failures = ours + "failures";
  slots = ours + "slots";
  paused = ours + "paused";
  runs = ours + "runs";
  events = ours + "events";
  wake = ours + "wake";
  breaker = ours + "breaker";
  taken = ours + "claims";
  due = ours + "due";
  jitter = ours + "jitter";
  halted = ours + "halted";
}

std::string ScheduleKeys::working(std::string_view job) const {
  return queue(code_of(job)) + "-" + std::string(job);
}

}  // namespace w8y::store
