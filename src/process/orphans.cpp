#include "process/orphans.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "process/cgroup_files.hpp"

namespace w8y::process {

namespace {

constexpr Duration pause = std::chrono::seconds(1);
constexpr int kill_rounds = 100;
constexpr int kill_round_us = 5000;

struct ChildState {
  pid_t pid = 0;
  bool zombie = false;
};

/// All our children, by looking at every process: not every kernel keeps a list of them.
std::vector<ChildState> children() {
  std::vector<ChildState> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  const std::string ours = " " + std::to_string(getpid()) + " ";
  for (const dirent* entry = nullptr; proc && (entry = readdir(proc.get())) != nullptr;) {
    const char* name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name, name + std::strlen(name), pid).ec != std::errc()) continue;
    // "PID (NAME) STATE PARENT …"; the name may hold anything.
    const auto stat = read_small_file("/proc/" + std::string(name) + "/stat");
    const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || stat->compare(name_end + 3, ours.size(), ours) != 0)
      continue;
    found.push_back({pid, (*stat)[name_end + 2] == 'Z'});
  }
  return found;
}

}  // namespace

std::set<pid_t>& started_children() {
  thread_local std::set<pid_t> pids;
  return pids;
}

Orphans::Orphans(loop::Loop& loop) : loop_(loop), timer_(loop.timers()) {
  for (const ChildState& child : children()) inherited_.insert(child.pid);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  listen();
}

Orphans::~Orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/// A signal for each run that ends would cost as much as some of the run: one wakes us, and the
/// next is listened for after a pause.
void Orphans::listen() {
  exits_.emplace(loop_, SIGCHLD, [this](int) {
    if (!timer_.pending()) timer_.set(loop_.now(), [this] { look(); });
  });
  sweep();
}

void Orphans::look() {
  exits_.reset();
  sweep();
  timer_.set(loop_.now() + pause, [this] { listen(); });
}

bool Orphans::is_orphan(pid_t pid) const {
  return !started_children().contains(pid);
}

void Orphans::sweep() {
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (!is_orphan(info.si_pid)) break;
    reap(info.si_pid);
  }
  // A child of ours that has exited and still waits for its outputs hides those after it.
  for (const ChildState& child : children())
    if (child.zombie && is_orphan(child.pid)) reap(child.pid);
}

void Orphans::reap(pid_t pid) {
  if (waitpid(pid, nullptr, WNOHANG) != pid) return;
  ++reaped_;
  inherited_.erase(pid);
}

std::size_t Orphans::kill_all() {
  std::set<pid_t> killed;
  for (int round = 0; round < kill_rounds; ++round) {
    bool any = false;
    for (const ChildState& child : children()) {
      if (!is_orphan(child.pid) || inherited_.contains(child.pid)) continue;
      any = true;
      if (child.zombie) continue;
      kill(child.pid, SIGKILL);
      killed.insert(child.pid);
    }
    if (!any) break;
    usleep(kill_round_us);
    sweep();
  }
  return killed.size();
}

}  // namespace w8y::process
