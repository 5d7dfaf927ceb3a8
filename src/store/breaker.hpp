// Breaker of a list, as the scripts expect it (lua/parts/breaker_settle.lua).
#pragma once

#include <string>

#include "core/ended_run.hpp"

namespace w8y::store {

/// Returns the limits: "16 20 1000 300000". Empty if the list has no breaker.
std::string breaker_limits(const ListConfig& rule);

/// Returns the entry of a run: "+" it succeeded, "-" it failed, empty if the run is not entered. A
/// run that was cancelled, lost or never started is not entered.
std::string breaker_entry(const EndedRun& run);

}  // namespace w8y::store
