// A run that has ended, and its outcome, for every kind of work. The source decides the disposition
// of the item.
#pragma once

#include <optional>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/outcome.hpp"

namespace w8y {

/// Returns the outcome of a run, as defined in w8y-executor(7), HOW A RUN ENDED. `stopped` is the
/// reason if w8yd stopped the run.
Outcome outcome_of(const ListConfig& rule, const RunEnd& end, std::optional<StopReason> stopped);

struct EndedRun {
  Claim claim;
  ListConfigPtr rule;
  Outcome outcome;
  RunEnd end;
  WallTime started{0};
  WallTime ended{0};

  /// Returns the reason if the run never started: there was no process, or no process accepted the
  /// item.
  [[nodiscard]] const NotStarted* never_began() const {
    return std::get_if<NotStarted>(&end.process);
  }
};

/// How a run counts for its item. A missing prerequisite of this host is not a failure of the item.
/// Neither are a cancellation by an operator, a shutdown and a lost lease.
enum class Counts { success, failure, neither };
Counts counts_as(const EndedRun& run);

/// Returns the delay after the `failures`-th consecutive failure (1, 2, …): min · factor^(n-1), at
/// most max. Returns 0 without backoff.
Duration backoff_after(const std::optional<Backoff>& backoff, unsigned failures);

}  // namespace w8y
