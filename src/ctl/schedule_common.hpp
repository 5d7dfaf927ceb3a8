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

namespace w8y::ctl {

verbs::ScheduleChanges schedules_of(const Options& options, Context& context);

/// Parses a Unix time or a time in UTC: "1763730000", "2026-01-31T12:00:00Z", "2026-01-31 12:00".
verbs::UnixSeconds unix_time_of(const char* option, const std::string& text);
/// Formats a time: "2026-01-31T12:00:00Z".
std::string utc_text(verbs::UnixSeconds time);

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

/// Returns why a job of this name cannot be set; empty: it can.
std::string job_error(const std::string& job);

}  // namespace w8y::ctl
