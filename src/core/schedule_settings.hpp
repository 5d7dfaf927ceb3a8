// The settings that only schedules have; see w8y.toml(5).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/job_code.hpp"

namespace w8y {

/// Disposition of a job of a schedule whose run failed.
enum class OnFailure {
  die,         ///< status DIE; it does not run again until it is set again
  reschedule,  ///< as after a success
  backoff,     ///< again after its backoff, regardless of its schedule; `die` after `max_failures`
};

/// Runs for the times of a recurrence rule that passed before a host dispatched the job, or before
/// its run ended.
enum class CatchUp {
  one,   ///< one run for all times, as Redbike
  all,   ///< one run for each time
  none,  ///< no run, if the dispatch is late by more than a minute
};

/// Settings of a schedule that are derived from the other lists of the config with the same key
/// prefix. The defaults are those of a list that is the only one with its key prefix.
struct SharedKeyPrefix {
  struct Queue {
    std::string code;
    CatchUp catch_up = CatchUp::one;
    std::string list;
    bool operator==(const Queue&) const = default;
  };
  bool dispatches = true;     ///< false: another list of this host dispatches for the key prefix
  std::string timefile;       ///< of another list; empty = none
  std::vector<Queue> others;  ///< queues of the other lists, each once
  [[nodiscard]] const Queue* find(std::string_view code) const {
    const auto found = std::find_if(others.begin(), others.end(),
                                    [&](const Queue& queue) { return queue.code == code; });
    return found == others.end() ? nullptr : &*found;
  }
  /// Returns whether the job is in a queue of another list.
  [[nodiscard]] bool has_job(std::string_view job) const {
    return !others.empty() && find(code_of(job)) != nullptr;
  }
  bool operator==(const SharedKeyPrefix&) const = default;
};

/// Settings of a schedule only.
struct ScheduleSettings {
  std::vector<std::string> queues;  ///< codes, in the order of claims; at least one
  bool dispatch = true;             ///< whether this host dispatches due jobs
  OnFailure on_failure = OnFailure::die;
  std::string timefile;  ///< path; empty = none
  CatchUp catch_up = CatchUp::one;
  std::optional<std::string> key_prefix = {};  ///< nullopt = the name of the list
  SharedKeyPrefix shared = {};

  /// Returns whether the list dispatches on this host: at most one list for each key prefix.
  [[nodiscard]] bool dispatches() const { return dispatch && shared.dispatches; }
  bool operator==(const ScheduleSettings&) const = default;
};

}  // namespace w8y
