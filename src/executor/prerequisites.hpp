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

struct Prerequisites {
  RunAs run_as;
  std::string env_file;  ///< empty: none
  std::string cwd = "/";
  std::vector<ResourceLimit> rlimits;
  std::optional<int> nice;
  /// Of a command, or as root of any list. Empty: an executor, which the probe runs itself.
  std::string program;

  /// Every host has it.
  [[nodiscard]] bool none() const { return *this == Prerequisites{}; }
  bool operator==(const Prerequisites&) const = default;
  bool operator<(const Prerequisites& other) const;
};
Prerequisites needs_of(const ListConfig& rule);

/// How far a look has come: where it hangs, if it does.
enum class PrerequisiteStep { queued, account, program, trial };

struct PrerequisiteResult {
  std::optional<process::SpawnError> problem;  ///< nullopt: what was looked at is here
  process::Account account;
};
/// Looks at the account and the program. That may take as long as their file systems do, or for
/// ever: not on the loop's thread.
PrerequisiteResult look_for(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step);

/// The folder, the file, the limits and whether we may become that user are tried: by a child that
/// does all that a run's does before its exec, and ends there. nullopt: there is nothing to try.
std::optional<process::SpawnRequest> trial_of(const Prerequisites& needs,
                                              const process::Account& account);
/// What is missing, as the end of a trial tells.
std::optional<process::SpawnError> judge_trial(const process::SpawnError& end);
/// look_for(), and then the trial, which is waited for: for threads that may wait.
PrerequisiteResult look_and_try(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step);

/// What gives no answer, for people: "cwd /mnt/media gives no answer".
std::string no_answer_text(const Prerequisites& needs, PrerequisiteStep step);

}  // namespace w8y::executor
