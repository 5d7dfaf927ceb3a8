#include "process/orphans.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string>

#include "loop/background.hpp"
#include "loop/loop.hpp"
#include "process/captured_run.hpp"
#include "process/cgroup_files.hpp"

namespace w8y::process {

namespace {

using ChildState = Orphans::ChildState;

constexpr Duration pause = std::chrono::seconds(1);
constexpr int kill_round_us = 5000;

/// Returns all children, by reading every process, since not every kernel has a list of them.
std::vector<ChildState> children() {
  std::vector<ChildState> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  const std::string ours = " " + std::to_string(getpid()) + " ";
  for (const dirent* entry = nullptr; proc && (entry = readdir(proc.get())) != nullptr;) {
    const char* name = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(name, name + std::strlen(name), pid).ec != std::errc()) continue;
    // "PID (NAME) STATE PARENT …"; the name may contain any character.
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

HelperChildren& announced_children() {
  thread_local HelperChildren counts;
  return counts;
}

Orphans::Orphans(loop::Loop& loop)
    : loop_(loop), timer_(loop.timers()), self_(std::make_shared<Orphans*>(this)) {
  for (const ChildState& child : children()) inherited_.insert(child.pid);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  listen();
}

Orphans::~Orphans() {
  *self_ = nullptr;
  prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/// Waits for SIGCHLD. A signal per ended run would cost about as much as a short run, so after each
/// signal there is a pause.
void Orphans::listen() {
  exits_.emplace(loop_, SIGCHLD, [this](int) {
    if (!timer_.pending()) timer_.set(loop_.now(), [this] { check(); });
  });
  sweep();
  if (again_ && !timer_.pending()) timer_.set(loop_.now() + pause, [this] { check(); });
}

void Orphans::check() {
  exits_.reset();
  sweep();
  timer_.set(loop_.now() + pause, [this] { listen(); });
}

bool Orphans::is_orphan(pid_t pid) const {
  return !started_children().contains(pid);
}

/// Returns whether the helper has replied to all requests, including those sent during a pass:
/// their children may have exited before the pass ended.
bool Orphans::know_all() {
  return announced_children().replied >= announced_children().requested;
}

void Orphans::sweep() {
  again_ = runs_briefly();  // an unknown child may belong to another thread
  if (again_) return;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (!is_orphan(info.si_pid)) break;
    if (!know_all()) {
      again_ = true;  // its reply may still be in flight
      return;
    }
    reap(info.si_pid);
  }
  // waitid() returned a child that w8yd reaps later, when its outputs are closed. It hides children
  // that exited after it. To find those, another thread reads all processes of the host.
  if (scanning_) return;
  const auto found = std::make_shared<std::vector<ChildState>>();
  const auto then = [self = self_, found] {
    if (*self != nullptr) (*self)->scanned(*found);
  };
  scanning_ = loop::in_background(
      loop_, [found] { *found = children(); }, then);
}

void Orphans::scanned(const std::vector<ChildState>& found) {
  scanning_ = false;
  if (!know_all() || runs_briefly()) {
    if (!timer_.pending()) timer_.set(loop_.now() + pause, [this] { check(); });
    return;
  }
  for (const ChildState& child : found)
    if (child.zombie && is_orphan(child.pid)) reap(child.pid);
}

void Orphans::reap(pid_t pid) {
  if (waitpid(pid, nullptr, WNOHANG) != pid) return;
  ++reaped_;
  inherited_.erase(pid);
}

std::size_t Orphans::kill_all(Duration limit) {
  std::set<pid_t> killed;
  const auto until = std::chrono::steady_clock::now() + limit;
  do {
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
  } while (std::chrono::steady_clock::now() < until);
  return killed.size();
}

}  // namespace w8y::process
