#include "store/schedule/keys.hpp"

namespace w8y::store {

std::string_view code_of(std::string_view job) {
  const auto colon = job.rfind(':');
  return colon == std::string_view::npos ? job : job.substr(colon + 1);
}

std::string code_trouble(std::string_view code) {
  // As in parts/enqueue.lua.
  if (code == "members" || code.ends_with("-members"))
    return "the key of a queue of this code would be that of what is in another queue; use a code "
           "that does not end in 'members'";
  const auto middle = code.size() / 2;
  if (code.size() % 2 == 1 && code[middle] == '-' &&
      code.substr(0, middle) == code.substr(middle + 1))
    return "the key of a queue of this code would be that of a job which is worked on; use another "
           "code";
  return {};
}

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
  taken = ours + "taken";
  halted = ours + "halted";
}

std::string ScheduleKeys::working(std::string_view job) const {
  return queue(code_of(job)) + "-" + std::string(job);
}

}  // namespace w8y::store
