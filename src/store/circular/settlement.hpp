// Settlement of a run of a circular list, written to Redis in one step.
#pragma once

#include <variant>

#include "core/ended_run.hpp"
#include "store/failure_count.hpp"

namespace w8y::store {

struct SetFree {};
struct RestFor {
  bool after_failure = false;  ///< "delay:backoff", else "delay:cooldown"
  Duration time{0};            ///< > 0
};
struct Quarantine {
  Duration instead{0};  ///< delay if the breaker prevents the quarantine
};
/// New state of the item: free, delayed or quarantined.
using Rest = std::variant<SetFree, RestFor, Quarantine>;

struct Settlement : EndedRun {
  Rest rest;
  FailureCount failures = FailureCount::keep;
};

}  // namespace w8y::store
