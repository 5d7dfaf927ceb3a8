// Prerequisites of a list, and their check on this host.
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
  /// Program of a command or, as root, of any list. Empty: an executor, which the probe runs
  /// itself.
  std::string program;

  /// Returns whether there are no prerequisites, so that every host is eligible.
  [[nodiscard]] bool none() const { return *this == Prerequisites{}; }
  bool operator==(const Prerequisites&) const = default;
  bool operator<(const Prerequisites& other) const;
};
Prerequisites needs_of(const ListConfig& rule);

/// Progress of a check: the step at which it blocks, if it does.
enum class PrerequisiteStep { queued, account, program, trial };

struct PrerequisiteResult {
  std::optional<process::SpawnError> problem;  ///< nullopt: all that was checked is available
  process::Account account;
};
/// Checks the account and the program. Must not be called on the loop's thread: it blocks, maybe
/// forever, while a file system does not respond.
PrerequisiteResult look_for(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step);

/// Returns a spawn that tries the directory, the file, the limits and the change of user. Its child
/// does all steps of a run before the exec and then ends. nullopt: there is nothing to try.
std::optional<process::SpawnRequest> trial_of(const Prerequisites& needs,
                                              const process::Account& account);
/// Returns the missing prerequisite, by the result of a trial; nullopt: none.
std::optional<process::SpawnError> judge_trial(const process::SpawnError& end);
/// Calls look_for(), then waits for the trial. For threads that may block.
PrerequisiteResult check_and_try(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step);

/// Names the prerequisite that does not respond: "cwd /mnt/media does not respond".
std::string no_answer_text(const Prerequisites& needs, PrerequisiteStep step);

}  // namespace w8y::executor
