#include "source/schedule/disposition.hpp"

#include <algorithm>

#include "core/schedule_settings.hpp"
#include "source/least_rest.hpp"

namespace w8y::source {

namespace {

/// Rounds up to seconds, the resolution of the timeline.
std::chrono::seconds whole_seconds(Duration time) {
  return std::chrono::ceil<std::chrono::seconds>(time);
}

/// Follows the schedule, unless the executor's `complete` message has another value.
store::JobEnd as_scheduled(const EndedRun& run) {
  if (!run.end.complete) return store::ActOnSchedule{};
  const Complete& last = *run.end.complete;
  if (last.schedule == "STOP") return store::StopForGood{};
  if (last.schedule == "UNSET") return store::UnsetJob{};
  if (!last.backoff) return store::ActOnSchedule{};
  return store::ActOnSchedule{whole_seconds(*last.backoff)};
}

ScheduleDisposition after_failure(const EndedRun& run) {
  const ListConfig& rule = *run.rule;
  const unsigned failures = run.claim.attempt;
  Duration rest = backoff_after(rule.backoff, failures);
  // The executor's value can only make it longer, so that a failing job cannot run without a pause.
  if (run.end.complete && run.end.complete->backoff)
    rest = std::max(rest, *run.end.complete->backoff);
  if (run.never_began() != nullptr) rest = std::max(rest, least_rest_unstarted);
  switch (rule.schedule().on_failure) {
    case OnFailure::die:
      break;
    case OnFailure::reschedule:
      if (run.never_began() != nullptr)
        return {store::ActOnSchedule{whole_seconds(least_rest_unstarted)},
                store::FailureCount::increment};
      return {as_scheduled(run), store::FailureCount::increment};
    case OnFailure::backoff:
      if (rule.max_failures > 0 && failures >= rule.max_failures) break;
      return {store::BackOff{whole_seconds(rest)}, store::FailureCount::increment};
  }
  return {store::Die{whole_seconds(rest)}, store::FailureCount::increment};
}

}  // namespace

ScheduleDisposition dispose_of_scheduled(const EndedRun& run) {
  switch (counts_as(run)) {
    case Counts::success:
      return {as_scheduled(run), store::FailureCount::reset};
    case Counts::failure:
      return after_failure(run);
    case Counts::neither:
      break;
  }
  const auto* cancelled = std::get_if<Cancelled>(&run.outcome);
  if (cancelled != nullptr && cancelled->by_operator) return {store::ActOnSchedule{}};
  return {store::BackToQueue{}};
}

}  // namespace w8y::source
