// What a list names for its runs, and whether this host has it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "process/credentials.hpp"
#include "process/spawn.hpp"

namespace w8y::executor {

struct Needs {
  RunAs run_as;
  std::string env_file;  ///< empty: none
  std::string cwd = "/";
  std::vector<ResourceLimit> rlimits;
  std::optional<int> nice;
  /// Of a command, or as root of any list. Empty: an executor, which the probe runs itself.
  std::string program;

  /// Every host has it.
  [[nodiscard]] bool none() const { return *this == Needs{}; }
  bool operator==(const Needs&) const = default;
  bool operator<(const Needs& other) const;
};
Needs needs_of(const Rule& rule);

/// How far a look has come: where it hangs, if it does.
enum class NeedsStep { queued, account, program, trial };

struct Looked {
  std::optional<process::SpawnError> problem;  ///< nullopt: what was looked at is here
  process::Account account;
};
/// Looks at the account and the program. That may take as long as their file systems do, or for
/// ever: not on the loop's thread.
Looked look_for(const Needs& needs, std::atomic<NeedsStep>& step);

/// The folder, the file, the limits and whether we may become that user are tried: by a child that
/// does all that a run's does before its exec, and ends there. nullopt: there is nothing to try.
std::optional<process::SpawnRequest> trial_of(const Needs& needs, const process::Account& account);
/// What is missing, as the end of a trial tells.
std::optional<process::SpawnError> judge_trial(const process::SpawnError& end);
/// look_for(), and then the trial, which is waited for: for threads that may wait.
Looked look_and_try(const Needs& needs, std::atomic<NeedsStep>& step);

/// What gives no answer, for people: "cwd /mnt/media gives no answer".
std::string no_answer_text(const Needs& needs, NeedsStep step);

}  // namespace w8y::executor
