// Common parts of the subcommands for schedules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ctl/arguments.hpp"
#include "ctl/context.hpp"
#include "ctl/options.hpp"
#include "operator/schedule_changes.hpp"
#include "schedule/schedule.hpp"

namespace w8y::ctl {

verbs::ScheduleChanges schedules_of(const Options& options, Context& context);

/// Parses a Unix time or a time in UTC: "1763730000", "2026-01-31T12:00:00Z", "2026-01-31 12:00".
verbs::UnixSeconds unix_time_of(const char* option, const std::string& text);
/// Declares an option with a time, as unix_time_of() parses it.
template <class Into>
void declare_time(Arguments& words, const char* option, const char* what, Into& into) {
  words.option(option, "TIME", "a time, such as 2026-01-31T12:00:00Z", what,
               [option, &into](Argument&& word) { into = unix_time_of(option, word.text); });
}
/// Formats a time: "2026-01-31T12:00:00Z".
std::string utc_text(verbs::UnixSeconds time);

/// Returns the schedule to store for a text that a person typed: schedule::as_stored(). Throws
/// Failure if `zone` cannot be used. `zone`: empty = none.
std::string schedule_of(const std::string& typed, const std::string& zone);

struct Due {
  verbs::UnixSeconds time = 0;
  std::string local;  ///< in the zone of the rule, if it has one
};
/// Computes the first `count` times of a schedule after `after`. `first`: the time on the timeline,
/// which is the first result; nullopt: none.
std::vector<Due> next_times(const schedule::Schedule& schedule, verbs::UnixSeconds after,
                            std::optional<verbs::UnixSeconds> first, std::size_t count);
/// Formats a time for people: in UTC, then in the zone of the rule.
std::string due_text(const Due& due);
void add_times(core::JsonArray& all, const std::vector<Due>& times);

struct JobWord {
  std::string job;
  bool given = false;

  void declare(Arguments& words, const char* what, bool or_none = false);

 private:
  bool base64_ = false;
};

/// Sets these jobs. Without `force`, an invalid schedule never replaces a valid one. Returns the
/// indexes of the jobs that were therefore left unchanged.
std::vector<std::size_t> set_schedules(verbs::ScheduleChanges& changes,
                                       const std::vector<verbs::SetJob>& jobs,
                                       verbs::UnixSeconds now, bool force);
/// Error message for an invalid schedule. `unchanged`: the job kept its valid one.
std::string bad_schedule_text(const std::string& job, const std::string& why, bool unchanged);

/// Warns if no host of the fleet serves the queue of a job, or no host has the schedule in its
/// config. Warns once per queue.
void warn_if_unserved(Context& context, const std::string& prefix,
                      const std::vector<std::string>& jobs);

/// Returns why a job of this name cannot be set; empty: it can.
std::string job_error(const std::string& job);

}  // namespace w8y::ctl
