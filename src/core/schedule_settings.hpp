// The settings that only schedules have: see w8y.toml(5).
#pragma once

#include <string>
#include <vector>

namespace w8y {

/// What becomes of a job of a schedule whose run failed.
enum class OnFailure {
  die,         ///< status DIE; it does not run again until somebody sets it
  reschedule,  ///< as after a success
  backoff,     ///< again after its backoff, whatever its schedule; `max_failures`: then `die`
};

/// What only schedules have.
struct ScheduleSettings {
  std::vector<std::string> queues;  ///< codes, in the order of claims; at least one
  bool dispatch = true;             ///< whether this host takes due jobs off the timeline
  OnFailure on_failure = OnFailure::die;
  std::string timefile;  ///< path; empty: none
  bool operator==(const ScheduleSettings&) const = default;
};

}  // namespace w8y
