// Disposition of an item of a circular list after its run.
#pragma once

#include "core/ended_run.hpp"
#include "store/circular/settlement.hpp"

namespace w8y::source {

struct Disposition {
  store::Rest rest;
  store::FailureCount failures = store::FailureCount::keep;
};
Disposition dispose_of(const EndedRun& run);

}  // namespace w8y::source
