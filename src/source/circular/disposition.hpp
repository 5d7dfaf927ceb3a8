// What becomes of an item of a circular list after its run.
#pragma once

#include <variant>

#include <w8y/ended_run.hpp>

namespace w8y::source {

struct SetFree {};
struct RestFor {
  bool after_failure = false;  ///< "rest:backoff", else "rest:cooldown"
  Duration time{0};            ///< > 0
};
struct Quarantine {};
using Rest = std::variant<SetFree, RestFor, Quarantine>;

enum class FailureCount { keep, reset, increment };

struct Disposition {
  Rest rest;
  FailureCount failures = FailureCount::keep;
};
Disposition dispose_of(const EndedRun& run);

/// All that Redis is told about a run that is over: one step, whatever it takes.
struct Settlement : EndedRun {
  Rest rest;
  FailureCount failures = FailureCount::keep;
};

}  // namespace w8y::source
