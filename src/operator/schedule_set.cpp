#include "operator/schedule_set.hpp"

#include "core/escape.hpp"
#include "core/job_code.hpp"
#include "operator/key_names.hpp"
#include "operator/lists.hpp"
#include "operator/schedule_changes.hpp"
#include "operator/schedules.hpp"
#include "schedule/schedule.hpp"

namespace w8y::verbs {

namespace {

/// Refuses a job whose queue no host can serve.
void check_job(const std::string& job) {
  const std::string_view code = code_of(job);
  if (const std::string why = code_error(code); !why.empty())
    throw QueryError(
        400, "the job " + escape_text(job) + " has the code " + escape_text(code) + ", and " + why);
}

std::string stored(const ScheduleToSet& wanted) {
  schedule::Typed typed = schedule::as_stored(wanted.schedule, wanted.zone);
  if (!typed.zone_error.empty())
    throw QueryError(400, "tz " + escape_text(wanted.zone) + ": " + escape(typed.zone_error));
  return std::move(typed.schedule);
}

std::vector<WallTime> next_of(const SetEffect& effect, const std::string& schedule,
                              UnixSeconds now) {
  const auto* at = std::get_if<store::RunAt>(&effect);
  if (at == nullptr) return {};
  return times_of(schedule::parse_schedule(schedule, now), at->time, now);
}

}  // namespace

ScheduleSet set_schedule(QueryContext& query, const std::string& name, const std::string& job,
                         const ScheduleToSet& wanted) {
  check_hash_tag(query, name);
  check_job(job);
  const std::string schedule = stored(wanted);
  ScheduleChanges changes(query.redis, schedule_keys(query, name), query.by);
  const UnixSeconds now = changes.now();
  Decision decision = decide(schedule, now);
  if (!decision.why_bad.empty())
    throw QueryError(400, "the schedule " + escape_text(schedule) + ": " +
                              escape(decision.why_bad) + "; nothing was changed");
  if (wanted.jitter.count() > 0 &&
      (!std::holds_alternative<store::RunAt>(decision.effect) || decision.schedule != schedule))
    throw QueryError(400, "jitter needs a recurrence or cron fields with a next time");
  write(query, [&] {
    changes.set({{job, decision.schedule, decision.effect, wanted.jitter}});
    return true;
  });
  return {decision.schedule, next_of(decision.effect, schedule, now)};
}

bool unset_schedule(QueryContext& query, const std::string& name, const std::string& job) {
  check_hash_tag(query, name);
  const ScheduleKeys keys = schedule_keys(query, name);
  return write(query, [&] { return ScheduleChanges(query.redis, keys, query.by).unset(job); });
}

}  // namespace w8y::verbs
