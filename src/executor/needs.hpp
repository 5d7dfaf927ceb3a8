// What a list names for its runs, and whether this host has it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <w8y/rule.hpp>

#include "process/spawn.hpp"

namespace w8y::executor {

struct Needs {
  Identity identity;
  std::string env_file;  ///< empty: none
  std::string cwd = "/";
  std::vector<ResourceLimit> rlimits;
  std::optional<int> nice;
  std::string program;  ///< of a command; empty: an executor, which is asked itself

  /// Every host has it.
  [[nodiscard]] bool none() const { return *this == Needs{}; }
  bool operator==(const Needs&) const = default;
  bool operator<(const Needs& other) const;
};
Needs needs_of(const Rule& rule);

/// How far a look has come: where it waits, if it does.
enum class NeedsStep { queued, account, env_file, folder, program };

/// Looks in the order of NeedsStep, and gives the first that is missing. The folder, the limits and
/// the account are tried by a child that does all that a run would do before its exec, and ends.
/// May take as long as the slowest of the places that are looked at, and for ever: not for the
/// loop.
std::optional<process::SpawnError> look_for(const Needs& needs, std::atomic<NeedsStep>& step);

/// What gives no answer, for people: "cwd /mnt/media gives no answer".
std::string no_answer_text(const Needs& needs, NeedsStep step);

}  // namespace w8y::executor
