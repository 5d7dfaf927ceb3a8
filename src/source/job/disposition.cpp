#include "source/job/disposition.hpp"

#include <algorithm>

#include "source/least_rest.hpp"
#include "store/failure_count.hpp"

namespace w8y::source {

namespace {

using namespace store::thoonk;

/// Stalls the job if this failure reaches `max_failures`.
JobDisposition after_failed_job(const EndedRun& run) {
  const ListConfig& rule = *run.rule;
  const unsigned failures = run.claim.attempt;
  Duration rest = backoff_after(rule.backoff, failures);
  if (run.never_began() != nullptr) rest = std::max(rest, least_rest_unstarted);
  if (rule.max_failures > 0 && failures >= rule.max_failures) {
    const std::string reason = outcome_reason(run.outcome);
    return Stall{store::failures_text(
                     failures, reason.empty() ? std::string(outcome_name(run.outcome)) : reason),
                 rest};
  }
  return Cancel{rest};
}

struct NeitherWay {
  JobDisposition operator()(const Cancelled& cancelled) const {
    if (cancelled.by_operator) return Requeue{};
    return PutBack{};
  }
  JobDisposition operator()(const Lost&) const { return Leave{}; }
  /// The run never started.
  template <typename Outcome>
  JobDisposition operator()(const Outcome&) const {
    return PutBack{};
  }
};

}  // namespace

JobDisposition dispose_of_feed_job(const EndedRun& run) {
  switch (counts_as(run)) {
    case Counts::success:
      return Finish{run.end.complete ? run.end.complete->result : "{}"};
    case Counts::failure:
      return after_failed_job(run);
    case Counts::neither:
      break;
  }
  return std::visit(NeitherWay{}, run.outcome);
}

}  // namespace w8y::source
