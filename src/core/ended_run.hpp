// A run that is over, and how it ended: the same for every kind of work. What becomes of its item
// is for the source to say.
#pragma once

#include <optional>

#include "core/clock.hpp"
#include "core/item.hpp"
#include "core/list_config.hpp"
#include "core/outcome.hpp"

namespace w8y {

/// What an executor saw of a run, in terms of w8y-executor(7), HOW A RUN ENDED. `stopped`: why we
/// ended it, if we did.
Outcome outcome_of(const ListConfig& rule, const RunEnd& end, std::optional<StopReason> stopped);

struct EndedRun {
  Claim claim;
  ListConfigPtr rule;
  Outcome outcome;
  RunEnd end;
  WallTime started{0};
  WallTime ended{0};

  /// It never began: there was no process, or none that took it.
  [[nodiscard]] const NotStarted* never_began() const {
    return std::get_if<NotStarted>(&end.process);
  }
};

/// How a run counts for its item. What this host lacks is no failure of the item, nor is an
/// operator's cancel, a shutdown, or a lost lock.
enum class Counts { success, failure, neither };
Counts counts_as(const EndedRun& run);

/// How long to wait after the `failures`-th failure in a row (1, 2, …): min · factor^(n-1), at most
/// max. Zero without backoff.
Duration backoff_after(const std::optional<Backoff>& backoff, unsigned failures);

}  // namespace w8y
