#include "source/circular/disposition.hpp"

#include <algorithm>

#include "core/circular_settings.hpp"
#include "source/least_rest.hpp"

namespace w8y::source {

namespace {

store::Rest rest_for(Duration time, bool after_failure) {
  if (time <= Duration{0}) return store::SetFree{};
  return store::RestFor{after_failure, time};
}

/// Returns the cooldown in the executor's `complete` message.
std::optional<Duration> own_cooldown(const EndedRun& run) {
  return run.end.complete ? run.end.complete->cooldown : std::nullopt;
}

Disposition after_failure(const EndedRun& run) {
  const ListConfig& rule = *run.rule;
  const unsigned failures = run.claim.attempt;
  Duration rest = backoff_after(rule.backoff, failures);
  // The executor's value can only make it longer, so that a failing item cannot run without a
  // pause.
  if (const auto cooldown = own_cooldown(run)) rest = std::max(rest, *cooldown);
  // The one-item wrapper leaves the delay to its caller, and leaves no lock.
  if (run.never_began() != nullptr && rule.supervised) rest = std::max(rest, least_rest_unstarted);
  if (rule.max_failures > 0 && failures >= rule.max_failures)
    return {store::Quarantine{rest}, store::FailureCount::increment};
  return {rest_for(rest, true), store::FailureCount::increment};
}

}  // namespace

Disposition dispose_of(const EndedRun& run) {
  switch (counts_as(run)) {
    case Counts::success:
      return {rest_for(own_cooldown(run).value_or(run.rule->circular().cooldown), false),
              store::FailureCount::reset};
    case Counts::failure:
      return after_failure(run);
    case Counts::neither:
      break;
  }
  return {store::SetFree{}, store::FailureCount::keep};
}

}  // namespace w8y::source
