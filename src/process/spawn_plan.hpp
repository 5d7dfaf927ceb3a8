// Converts a spawn request to the input of the child, and a spawn failure to its error message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/spawn.hpp"
#include "process/spawn_child.hpp"

namespace w8y::process {

/// Memory that the plan points to; reused by later spawns, to avoid allocations.
struct SpawnScratch {
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<int> limit_resources;
  std::vector<RawLimit> limits;
};

/// Returns the error of a request that no program can be started with: a NUL byte, no name.
std::optional<SpawnError> check_request(const SpawnRequest& request);
/// Fills in the plan. It points into `request` and `scratch`, which must outlive it. With
/// keep_ignored, callers that do not use clone_cleared() add realtime_signals().
void lay_out(const SpawnRequest& request, SpawnScratch& scratch, ChildPlan& plan);
/// Returns the signals from 32 on that did not have their default disposition at the first call.
/// Bit n - 1 of the mask stands for signal n.
std::uint64_t realtime_signals();
SpawnError::About what_failed(Step step);
std::string text_of(const SpawnRequest& request, const SpawnFailure& failure);

}  // namespace w8y::process
