#include "executor/prerequisites.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "process/find_program.hpp"
#include "process/spawn_modes.hpp"

namespace w8y::executor {

namespace {

using process::SpawnError;

/// Program of a trial. This path never exists, so that only the last step of the spawn, the exec,
/// fails.
constexpr const char* no_program = "/proc/w8y-no-program";

std::optional<SpawnError> check_program(const std::string& program, bool as_root) {
  const auto lack = [](int error, std::string text) {
    return SpawnError{error, std::move(text), false, SpawnError::About::program};
  };
  if (program.find('/') != std::string::npos && program.front() != '/')
    return lack(EINVAL, "neither a name nor an absolute path");
  const auto found = process::find_program(program);
  if (found.path.empty()) return lack(ENOENT, found.problem);
  const std::string why = as_root ? process::distrust_of_program(found.path) : std::string();
  if (why.empty()) return std::nullopt;
  return lack(EACCES, why + "; set `user`, so that its runs do not run as root");
}

}  // namespace

bool Prerequisites::operator<(const Prerequisites& other) const {
  const auto all = [](const Prerequisites& needs) {
    return std::tie(needs.run_as, needs.env_file, needs.cwd, needs.nice, needs.program);
  };
  if (all(*this) != all(other)) return all(*this) < all(other);
  return std::lexicographical_compare(
      rlimits.begin(), rlimits.end(), other.rlimits.begin(), other.rlimits.end(),
      [](const ResourceLimit& a, const ResourceLimit& b) {
        return std::tie(a.name, a.value) < std::tie(b.name, b.value);
      });
}

Prerequisites needs_of(const ListConfig& rule) {
  const ChildSettings& child = *rule.child;
  Prerequisites needs{child.run_as, child.env_file, child.cwd, child.rlimits, child.nice, {}};
  // Each run has a directory of its own; if it cannot be created, the host is short of something.
  if (needs.cwd == "temp") needs.cwd = "/";
  // A run as root requires a program that only root can write.
  if (rule.is_command() || geteuid() == 0) needs.program = rule.program();
  return needs;
}

PrerequisiteResult look_for(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step) {
  PrerequisiteResult looked;
  step = PrerequisiteStep::account;
  looked.problem = process::resolve(needs.run_as, looked.account);
  if (looked.problem || needs.program.empty()) return looked;
  step = PrerequisiteStep::program;
  const auto& credentials = looked.account.credentials;
  const uid_t uid = credentials ? credentials->uid : geteuid();
  looked.problem = check_program(needs.program, uid == 0);
  return looked;
}

std::optional<process::SpawnRequest> trial_of(const Prerequisites& needs,
                                              const process::Account& account) {
  const bool plain = needs.cwd == "/" && needs.env_file.empty() && !needs.nice &&
                     needs.rlimits.empty() && !account.credentials;
  if (plain) return std::nullopt;
  process::SpawnRequest request;
  request.program = no_program;
  request.argv = {no_program};
  request.env_file = needs.env_file;
  request.cwd = needs.cwd;
  request.credentials = account.credentials;
  request.nice = needs.nice;
  request.rlimits = needs.rlimits;
  return request;
}

std::optional<SpawnError> judge_trial(const SpawnError& end) {
  if (end.about == SpawnError::About::program) return std::nullopt;
  return end;
}

PrerequisiteResult check_and_try(const Prerequisites& needs, std::atomic<PrerequisiteStep>& step) {
  PrerequisiteResult looked = look_for(needs, step);
  if (looked.problem) return looked;
  auto request = trial_of(needs, looked.account);
  if (!request) return looked;
  step = PrerequisiteStep::trial;
  request->die_with_parent = false;  // its parent is a thread
  process::Spawned ignored;
  if (const auto end = process::spawn(*request, ignored)) looked.problem = judge_trial(*end);
  return looked;
}

std::string no_answer_text(const Prerequisites& needs, PrerequisiteStep step) {
  switch (step) {
    case PrerequisiteStep::queued:
      return "not checked yet: the check waits for files of other lists, which do not respond";
    case PrerequisiteStep::account:
      return "the lookup of its user or group does not finish";
    case PrerequisiteStep::program:
      return "the directory of its program does not respond";
    case PrerequisiteStep::trial:
      if (needs.env_file.empty()) return "cwd " + needs.cwd + " does not respond";
      if (needs.cwd == "/") return "env_file " + needs.env_file + " does not respond";
      return "cwd " + needs.cwd + " or env_file " + needs.env_file + " does not respond";
  }
  return "no reply";
}

}  // namespace w8y::executor
