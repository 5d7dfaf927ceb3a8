// From a request to what the child needs, and from what went wrong to words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "process/spawn.hpp"
#include "process/spawn_child.hpp"

namespace w8y::process {

/// What the plan points to; kept from spawn to spawn so that it needn't be allocated each time.
struct SpawnScratch {
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<int> limit_resources;
  std::vector<RawLimit> limits;
};

/// What no program can be given: a NUL byte, no name.
std::optional<SpawnError> check_request(const SpawnRequest& request);
/// `plan` points into both: they are to outlive it. With keep_ignored, whoever does not clone by
/// clone_cleared() adds realtime_signals().
void lay_out(const SpawnRequest& request, SpawnScratch& scratch, ChildPlan& plan);
/// Bit n - 1: signal n, of 32 and more, had another effect than its default one at the first
/// question.
std::uint64_t realtime_signals();
SpawnError::About what_failed(Step step);
std::string text_of(const SpawnRequest& request, const SpawnFailure& failure);

}  // namespace w8y::process
