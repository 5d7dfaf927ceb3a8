#include "store/schedule/keys.hpp"

namespace w8y::store {

ScheduleKeys::ScheduleKeys(const std::string& prefix, const std::string& list)
    : schedules(prefix + "-schedules"),
      statuses(prefix + "-statuses"),
      timeline(prefix + "-timeline"),
      control(prefix + "-control"),
      work_prefix(prefix + "-work-"),
      list(list) {
  const std::string ours = prefix.empty() ? "" : prefix + ":";
  fence = ours + "fence";
  failures = ours + "failures";
  events = ours + "events";
  wake = ours + "wake";
  taken = ours + "claims";
  due = ours + "due";
  jitter = ours + "jitter";
  halted = ours + "halted";
  const std::string end = list.empty() ? "" : ":" + list;
  slots = ours + "slots" + end;
  paused = ours + "paused" + end;
  runs = ours + "runs" + end;
  breaker = ours + "breaker" + end;
}

ScheduleKeys::ScheduleKeys(const ListConfig& rule)
    : ScheduleKeys(rule.bare_key_prefix(), rule.key_suffix().empty() ? "" : rule.prefix) {}

std::string ScheduleKeys::working(std::string_view job) const {
  return queue(code_of(job)) + "-" + std::string(job);
}

}  // namespace w8y::store
