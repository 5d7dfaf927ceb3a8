#include "process/cgroup_root.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "process/error_text.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

namespace {

bool has_word(const std::string& text, const std::string& word) {
  return (' ' + text + ' ').find(' ' + word + ' ') != std::string::npos;
}

std::string words_of(const std::string& path) {
  std::string text = read_small_file(path).value_or("");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

CgroupRoot::CgroupRoot(const CgroupPlace& place) {
  base_ = own_cgroup(place, problem_);
  if (base_.empty()) return;
  if (!can_clone_into_group()) {
    problem_ = "children cannot start in a control group here: Linux 5.14 is needed";
    return;
  }
  kill_left_behind();
  make();
}

CgroupRoot::~CgroupRoot() {
  if (path_.empty()) return;
  step_back();
  remove_group(path_, timeout_ms);
}

void CgroupRoot::give_up(std::string problem) {
  remove_group(path_, timeout_ms);
  path_.clear();
  problem_ = std::move(problem);
}

void CgroupRoot::kill_left_behind() {
  std::vector<std::string> killed;
  for (const std::string& name : groups_in(base_)) {
    if (!is_left_behind(name)) continue;
    killed.push_back(base_ + '/' + name);
    left_behind_ += count_processes(killed.back());
    kill_group(killed.back());
  }
  // All processes end at the same time, so the timeout applies once, not for each group.
  int wait = timeout_ms;
  for (const std::string& directory : killed)
    if (!remove_group(directory, wait)) wait = 0;
}

void CgroupRoot::make() {
  path_ = base_ + '/' + group_name_of(getpid());
  if (mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) {
    problem_ = "cannot create a group in " + base_ + ": " + error_text(errno);
    path_.clear();
    return;
  }
  // Kills no process: the group is still empty.
  if (const int error = kill_group(path_); error != 0) {
    problem_ = "no cgroup.kill in " + path_ + ": Linux 5.14 is needed";
    rmdir(path_.c_str());
    path_.clear();
  }
}

// ---- controllers

std::string CgroupRoot::enable(const std::string& controller) {
  if (!has_word(words_of(base_ + "/cgroup.controllers"), controller))
    return "no " + controller + " controller in " + base_;
  const std::string control = "/cgroup.subtree_control";
  const std::string plus = "+" + controller;
  if (!has_word(words_of(base_ + control), controller)) {
    int error = write_small_file(base_ + control, plus);
    // A group that enables controllers for its child groups must not contain processes.
    if (error == EBUSY && (error = step_aside()) == 0)
      error = write_small_file(base_ + control, plus);
    if (error == EBUSY)
      return "processes other than w8yd are in " + base_ + ", so w8yd cannot create groups in it";
    if (error != 0)
      return "cannot use the " + controller + " controller in " + base_ + ": " + error_text(error);
    enabled_.push_back(controller);
  }
  if (const int error = write_small_file(path_ + control, plus); error != 0)
    return "cannot use the " + controller + " controller in " + path_ + ": " + error_text(error);
  return {};
}

int CgroupRoot::step_aside() {
  if (aside_) return 0;
  const std::string leaf = path_ + "/supervisor";
  if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return errno;
  const int error = write_small_file(leaf + "/cgroup.procs", std::to_string(getpid()));
  aside_ = error == 0;
  return error;
}

/// Reverts enable(): a group that contains this process cannot be removed, and with controllers for
/// child groups it cannot be entered.
void CgroupRoot::step_back() {
  for (const std::string& controller : enabled_) {
    write_small_file(path_ + "/cgroup.subtree_control", "-" + controller);
    write_small_file(base_ + "/cgroup.subtree_control", "-" + controller);
  }
  if (aside_) write_small_file(base_ + "/cgroup.procs", std::to_string(getpid()));
}

}  // namespace w8y::process
