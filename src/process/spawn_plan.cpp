#include "process/spawn_plan.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/error_text.hpp"
#include "process/host_limits.hpp"

namespace w8y::process {

namespace {

std::uint64_t read_realtime_signals() {
  std::uint64_t found = 0;
  for (int number = 32; number <= 64; ++number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_DFL)
      found |= std::uint64_t{1} << (number - 1);
  }
  return found;
}

bool restore_sigchld() {
  struct sigaction child {};
  if (sigaction(SIGCHLD, nullptr, &child) == 0 && child.sa_handler == SIG_IGN)
    signal(SIGCHLD, SIG_DFL);
  return true;
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

SpawnError invalid(std::string text) {
  return {EINVAL, std::move(text)};
}

}  // namespace

/// Determined once per process, which saves 30 system calls per spawn.
std::uint64_t realtime_signals() {
  static const std::uint64_t at_first = read_realtime_signals();
  return at_first;
}

std::optional<SpawnError> check_request(const SpawnRequest& request) {
  if (request.program.empty() || has_nul(request.program))
    return invalid("the name of the program is empty or contains a NUL byte");
  if (has_nul(request.cwd)) return invalid("the working directory contains a NUL byte");
  for (std::size_t i = 0; i < request.argv.size(); ++i)
    if (has_nul(request.argv[i]))
      return invalid("argument " + std::to_string(i) + " contains a NUL byte");
  for (const auto* variables : {&request.env, &request.env_over})
    for (const std::string& variable : *variables)
      if (has_nul(variable))
        return invalid("environment variable " + variable.substr(0, variable.find('=')) +
                       " contains a NUL byte");
  return std::nullopt;
}

namespace {

void point_to(std::vector<char*>& pointers, const std::vector<std::string>& texts) {
  pointers.clear();
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
}

}  // namespace

void lay_out(const SpawnRequest& request, SpawnScratch& scratch, ChildPlan& plan) {
  point_to(scratch.argv, request.argv);
  point_to(scratch.envp, request.env);
  scratch.limit_resources.clear();
  scratch.limits.clear();
  for (const ResourceLimit& limit : request.rlimits) {
    const std::uint64_t value = limit.value.value_or(RLIM_INFINITY);
    scratch.limit_resources.push_back(limit.resource);
    scratch.limits.push_back({value, value});
  }
  // Appended after the requested limits, because SpawnFailure::limit is an index of those.
  const auto nofile = descriptor_limit_of_children();
  const auto& asked = scratch.limit_resources;
  if (nofile && std::find(asked.begin(), asked.end(), RLIMIT_NOFILE) == asked.end()) {
    scratch.limit_resources.push_back(RLIMIT_NOFILE);
    scratch.limits.push_back({nofile->rlim_cur, nofile->rlim_max});
  }
  [[maybe_unused]] static const bool restored = restore_sigchld();
  if (!request.keep_ignored) plan.realtime_signals = realtime_signals();
  plan.program = request.program.c_str();
  plan.argv = scratch.argv.data();
  plan.envp = scratch.envp.data();
  plan.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
  plan.streams = {request.in, request.out, request.err};
  plan.parent = getpid();
  plan.own_session = request.own_session;
  plan.close_others = request.close_others;
  plan.die_with_parent = request.die_with_parent;
  plan.no_new_privs = request.no_new_privs;
  plan.keep_ignored = request.keep_ignored;
  const auto umask = request.umask ? request.umask : umask_of_children();
  plan.has_umask = umask.has_value();
  plan.umask = static_cast<mode_t>(umask.value_or(0));
  plan.has_nice = request.nice.has_value();
  plan.nice = request.nice.value_or(0);
  plan.limit_resources = scratch.limit_resources.data();
  plan.limits = scratch.limits.data();
  plan.limit_count = scratch.limits.size();
  const uid_t uid = request.credentials ? request.credentials->uid : geteuid();
  plan.clear_capabilities = uid != 0 && !request.keep_capabilities;
  if (!request.credentials) return;
  plan.has_credentials = true;
  plan.uid = uid;
  plan.gid = request.credentials->gid;
  plan.groups = request.credentials->groups.data();
  plan.group_count = request.credentials->groups.size();
}

namespace {

std::string why_not_run(const SpawnRequest& request, const SpawnFailure& failure) {
  const int error = failure.error;
  const std::string what = "cannot run " + request.program + ": ";
  if (failure.program_is_there) return what + "the interpreter that it names is not there";
  if (error == ENOEXEC) return what + error_text(error) + " (a script needs a first line with #!)";
  if (error == E2BIG) return what + "arguments and environment are too long";
  return what + error_text(error);
}

}  // namespace

SpawnError::About what_failed(Step step) {
  switch (step) {
    case Step::environment:
    case Step::nice:
    case Step::limit:
    case Step::groups:
    case Step::group:
    case Step::user:
    case Step::capabilities:
    case Step::directory:
    case Step::no_new_privs:
      return SpawnError::About::settings;
    case Step::run:
      return SpawnError::About::program;
    case Step::none:
    case Step::clone:
    case Step::session:
    case Step::streams:
    case Step::close_others:
    case Step::parent_death:
      break;
  }
  return SpawnError::About::making;
}

std::string text_of(const SpawnRequest& request, const SpawnFailure& failure) {
  const auto cant = [&failure](const std::string& what) {
    return "cannot " + what + ": " + error_text(failure.error);
  };
  switch (failure.step) {
    case Step::none:
      return {};
    case Step::clone:
      return cant("create a process");
    case Step::environment:
      return cant("read " + request.env_file);
    case Step::session:
      return cant("start a session");
    case Step::streams:
      return cant("set up the standard streams");
    case Step::close_others:
      return cant("close the other descriptors");
    case Step::nice:
      return cant("set nice to " + std::to_string(request.nice.value_or(0)));
    case Step::limit: {
      if (failure.limit >= request.rlimits.size()) return cant("set the limit nofile");
      const ResourceLimit& limit = request.rlimits[failure.limit];
      return cant("set the limit " + limit.name + " to " +
                  (limit.value ? std::to_string(*limit.value) : "unlimited"));
    }
    case Step::groups:
      return cant("set supplementary groups");
    case Step::group:
      return cant("change to group " +
                  (request.credentials ? std::to_string(request.credentials->gid) : ""));
    case Step::user:
      return cant("change to user " +
                  (request.credentials ? std::to_string(request.credentials->uid) : ""));
    case Step::capabilities:
      return cant("clear the capabilities of the process");
    case Step::directory:
      return cant("change to directory " + request.cwd);
    case Step::no_new_privs:
      return cant("set no_new_privs");
    case Step::parent_death:
      return cant("set the signal for the end of its parent");
    case Step::run:
      return why_not_run(request, failure);
  }
  return {};
}

}  // namespace w8y::process
