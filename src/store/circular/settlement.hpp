// All that Redis is told about a run of a circular list that is over: one step, whatever it takes.
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
struct Quarantine {};
/// What the item's lock becomes.
using Rest = std::variant<SetFree, RestFor, Quarantine>;

struct Settlement : EndedRun {
  Rest rest;
  FailureCount failures = FailureCount::keep;
};

}  // namespace w8y::store
