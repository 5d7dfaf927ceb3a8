// What a run's end means (executor.md, "how it ended") and what becomes of its item.
#pragma once

#include <optional>

#include <w8y/outcome.hpp>
#include <w8y/rule.hpp>
#include <w8y/source.hpp>

namespace w8y {

struct Verdict {
  Outcome outcome;
  Rest rest;
  FailureCount failures = FailureCount::keep;
};

/// `stopped`: why we ended the run, if we did. `attempt`: failures in a row before it, plus one.
Verdict judge(const Rule& rule, const RunEnd& end, std::optional<StopReason> stopped,
              unsigned attempt);

/// How long an item rests after its `failures`-th failure in a row (1, 2, …): min · factor^(n-1),
/// at most max. Zero without backoff.
Duration backoff_after(const std::optional<Backoff>& backoff, unsigned failures);

}  // namespace w8y
