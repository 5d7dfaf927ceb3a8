#include "executor/needs.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "process/credentials.hpp"
#include "process/env_file.hpp"
#include "process/find_program.hpp"

namespace w8y::executor {

namespace {

using process::SpawnError;

/// Nothing can be executed under this name, so that the child of a trial ends where a run would
/// begin.
constexpr const char* no_program = "/";

std::optional<SpawnError> look_at_env_file(const std::string& path) {
  process::SpawnRequest request;
  request.env_file = path;
  return process::add_env_file(request);
}

std::optional<SpawnError> try_settings(const Needs& needs, const process::Account& account) {
  process::SpawnRequest request;
  request.program = no_program;
  request.argv = {no_program};
  request.cwd = needs.cwd;
  request.die_with_parent = false;  // its parent would be the thread
  request.credentials = account.credentials;
  request.nice = needs.nice;
  request.rlimits = needs.rlimits;
  process::Spawned ignored;
  auto problem = process::spawn(request, ignored);
  if (problem && problem->about == SpawnError::About::program) return std::nullopt;
  return problem;
}

}  // namespace

bool Needs::operator<(const Needs& other) const {
  const auto all = [](const Needs& needs) {
    return std::tie(needs.identity, needs.env_file, needs.cwd, needs.nice, needs.program);
  };
  if (all(*this) != all(other)) return all(*this) < all(other);
  return std::lexicographical_compare(
      rlimits.begin(), rlimits.end(), other.rlimits.begin(), other.rlimits.end(),
      [](const ResourceLimit& a, const ResourceLimit& b) {
        return std::tie(a.name, a.value) < std::tie(b.name, b.value);
      });
}

Needs needs_of(const Rule& rule) {
  const ChildSettings& child = *rule.child;
  Needs needs{child.identity, child.env_file, child.cwd, child.rlimits, child.nice, {}};
  // A folder of its own for each run: where it can't be made, the host is short of something.
  if (needs.cwd == "temp") needs.cwd = "/";
  if (rule.is_command()) needs.program = rule.command.front();
  return needs;
}

std::optional<SpawnError> look_for(const Needs& needs, std::atomic<NeedsStep>& step) {
  step = NeedsStep::account;
  process::Account account;
  if (auto problem = process::resolve(needs.identity, account)) return problem;
  step = NeedsStep::env_file;
  if (!needs.env_file.empty())
    if (auto problem = look_at_env_file(needs.env_file)) return problem;
  step = NeedsStep::folder;
  const bool default_child = needs.cwd == "/" && !needs.nice && needs.rlimits.empty();
  if (!default_child || account.credentials)
    if (auto problem = try_settings(needs, account)) return problem;
  step = NeedsStep::program;
  if (needs.program.empty()) return std::nullopt;
  if (needs.program.find('/') != std::string::npos && needs.program.front() != '/')
    return SpawnError{EINVAL, "neither a name nor an absolute path", false,
                      SpawnError::About::program};
  const auto found = process::find_program(needs.program);
  if (!found.path.empty()) return std::nullopt;
  return SpawnError{ENOENT, found.problem, false, SpawnError::About::program};
}

std::string no_answer_text(const Needs& needs, NeedsStep step) {
  switch (step) {
    case NeedsStep::queued:
      return "too many folders of other lists give no answer";
    case NeedsStep::account:
      return "the look-up of its user or group gives no answer";
    case NeedsStep::env_file:
      return "env_file " + needs.env_file + " gives no answer";
    case NeedsStep::folder:
      return "cwd " + needs.cwd + " gives no answer";
    case NeedsStep::program:
      return "the folder of its program gives no answer";
  }
  return "no answer";
}

}  // namespace w8y::executor
