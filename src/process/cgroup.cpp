#include "process/cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/units.hpp"
#include "process/error_text.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

namespace {

constexpr unsigned usual_weight = 100;

}  // namespace

struct RunGroup::Group {
  std::string path;
  Fd directory;
  Fd events;  ///< cgroup.events, kept open, since it is read after each run
  // Values of counters before the current run; they grow from run to run.
  std::uint64_t cpu_us = 0;
  std::uint64_t memory_limits = 0;  ///< number of times that its limit was reached
  std::uint64_t memory_kills = 0;
  Fd peak;                  ///< memory.peak: a write resets it for this descriptor (Linux 6.12)
  bool peak_is_own = true;  ///< `peak` is that of the current run only
  bool is_new = true;       ///< no run has used the group yet
  bool measured = true;     ///< the counters were read since its last run
  GroupLimits limits;
  bool killed = false;  ///< Linux 6.14 and later kill any process that is then started in it

  [[nodiscard]] bool populated() const {
    std::array<char, 128> buffer;
    const ssize_t count = events ? pread(events.get(), buffer.data(), buffer.size(), 0) : 0;
    if (count <= 0) return false;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    return text.find("populated 1") != std::string_view::npos;
  }
  /// Returns the growth of a counter and updates `before`; nullopt: the kernel has no value.
  static std::optional<std::uint64_t> growth(std::uint64_t& before,
                                             std::optional<std::uint64_t> now) {
    if (!now) return std::nullopt;
    return *now - std::min(*now, std::exchange(before, *now));
  }
  [[nodiscard]] std::optional<std::uint64_t> read_peak() const {
    std::array<char, 32> buffer;
    if (!peak) return read_number("/memory.peak");
    const ssize_t count = pread(peak.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return std::nullopt;
    return flat_value({buffer.data(), static_cast<std::size_t>(count)});
  }
  [[nodiscard]] std::optional<std::uint64_t> read_number(const char* file,
                                                         std::string_view name = {}) const {
    const auto text = read_small_file(path + file);
    return text ? flat_value(*text, name) : std::nullopt;
  }
};

RunGroup::RunGroup(ControlGroups& owner, std::unique_ptr<Group> group)
    : owner_(&owner), group_(std::move(group)) {}

RunGroup::RunGroup(RunGroup&& other) noexcept = default;

RunGroup& RunGroup::operator=(RunGroup&& other) noexcept {
  std::swap(owner_, other.owner_);
  group_.swap(other.group_);
  return *this;
}

RunGroup::~RunGroup() {
  if (group_) owner_->give_back(std::move(group_));
}

int RunGroup::directory() const {
  return group_->directory.get();
}

std::string RunGroup::measure(ResourceUse& used) {
  if (!group_) return {};
  Group& group = *group_;
  group.measured = true;
  const auto cpu = Group::growth(group.cpu_us, group.read_number("/cpu.stat", "usage_usec"));
  if (cpu) used.cpu = std::chrono::microseconds(*cpu);
  const auto& limit = group.limits.memory_max;
  if (!limit) return {};  // memory is counted only if it is limited
  if (const auto peak = group.peak_is_own ? group.read_peak() : std::nullopt)
    used.peak_memory = *peak;
  const auto events = read_small_file(group.path + "/memory.events");
  if (!events) return {};
  const auto reached = Group::growth(group.memory_limits, flat_value(*events, "oom"));
  const auto kills = Group::growth(group.memory_kills, flat_value(*events, "oom_kill"));
  if (kills.value_or(0) == 0) return {};
  const std::string why = "killed by the kernel: out of memory";
  return reached.value_or(0) > 0 ? why + ", limit " + format_size(*limit) : why;
}

/// Starts a run. The counters grow from run to run: their growth from now on belongs to this run.
void RunGroup::begin() {
  Group& group = *group_;
  const bool is_new = std::exchange(group.is_new, false);
  if (group.limits.memory_max) {
    if (!group.peak)
      group.peak = Fd(open((group.path + "/memory.peak").c_str(), O_RDWR | O_CLOEXEC));
    const bool reset = group.peak && pwrite(group.peak.get(), "1", 1, 0) == 1;
    group.peak_is_own = reset || is_new;
  }
  ResourceUse before;
  if (!is_new && !group.measured) static_cast<void>(measure(before));
  group.measured = false;
}

void RunGroup::kill() {
  if (!group_) return;
  group_->killed = true;
  kill_group(group_->path);
}

void RunGroup::distrust() {
  if (group_) group_->killed = true;
}

void RunGroup::refused(int error) {
  const bool removed = access(group_->path.c_str(), F_OK) != 0;
  remove_group(group_->path, 0);
  group_.reset();
  // Another process has removed it: acquire() creates a new group. Other errors would affect all
  // groups.
  if (removed || !owner_->usable()) return;
  owner_->problem_ = "cannot start children in the control group: " + error_text(error);
  if (owner_->on_problem) owner_->on_problem(owner_->problem_);
}

ControlGroups::ControlGroups(const CgroupPlace& place) : home_(place), problem_(home_.problem()) {
  if (!usable() || children_live()) return;
  problem_ =
      "the control group of w8yd was killed as a whole earlier, and this kernel (Linux 6.14 or "
      "later) kills all processes that start in groups below it";
  home_.give_up(problem_);
}

/// Returns whether children that are spawned in a group survive. Some kernels kill them at once,
/// because they compare the kill counters of the groups of parent and child.
bool ControlGroups::children_live() {
  int error = 0;
  std::unique_ptr<RunGroup::Group> group = make_group(error);
  if (!group) return true;  // acquire() reports any other error, when a run needs a group
  SpawnRequest request;
  request.program = "/";
  request.argv = {"w8yd"};
  request.group = group->directory.get();
  Spawned spawned;
  // Only a child that was not killed immediately can report that "/" is not a program.
  const bool alive = spawn(request, spawned).has_value();
  const Fd ended(spawned.pidfd);
  if (!alive) waitpid(spawned.pid, nullptr, 0);
  remove_group(group->path, CgroupRoot::timeout_ms);
  made_ = 0;
  return alive;
}

ControlGroups::~ControlGroups() {
  for (const auto& group : dying_) kill_group(group->path);
}

// ---- controllers

std::string ControlGroups::prepare(const GroupLimits& wanted) {
  if (!usable()) return problem_;
  std::string problems;
  const auto want = [&](bool asked, const char* name, bool& have) {
    if (!asked || have) return;
    const std::string problem = home_.enable(name);
    have = problem.empty();
    if (!have) problems += (problems.empty() ? "" : "; ") + problem;
  };
  want(wanted.memory_max.has_value(), "memory", memory_);
  want(wanted.cpu_weight.has_value(), "cpu", cpu_);
  return problems;
}

// ---- groups of runs

std::optional<RunGroup> ControlGroups::acquire(const GroupLimits& limits, int& error) {
  error = 0;
  if (!usable()) return std::nullopt;
  check_dying();
  GroupLimits to_have;
  if (memory_) to_have.memory_max = limits.memory_max;
  if (cpu_) to_have.cpu_weight = limits.cpu_weight;

  std::unique_ptr<RunGroup::Group> group;
  const auto same = std::find_if(free_.rbegin(), free_.rend(),
                                 [&](const auto& each) { return each->limits == to_have; });
  if (same != free_.rend()) {
    group = std::move(*same);
    free_.erase(std::next(same).base());
  } else if (!free_.empty()) {
    group = std::move(free_.back());
    free_.pop_back();
  } else {
    group = make_group(error);
  }
  if (group && !(group->limits == to_have)) {
    error = set_limits(*group, to_have);
    if (error != 0) free_.push_back(std::move(group));
  }
  if (group) {
    RunGroup taken(*this, std::move(group));
    taken.begin();
    return taken;
  }
  if (!to_have.any()) error = 0;
  return std::nullopt;
}

std::unique_ptr<RunGroup::Group> ControlGroups::make_group(int& error) {
  auto group = std::make_unique<RunGroup::Group>();
  group->path = home_.path() + '/' + std::to_string(++made_);
  if (mkdir(group->path.c_str(), 0755) != 0) {
    error = errno;
    return nullptr;
  }
  group->directory = Fd(open(group->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group->directory) {
    error = errno;
    rmdir(group->path.c_str());
    return nullptr;
  }
  group->events = Fd(open((group->path + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  if (!group->events && errno != ENOENT) {  // ENOENT: a test replaces the kernel
    error = errno;
    rmdir(group->path.c_str());
    return nullptr;
  }
  return group;
}

int ControlGroups::set_limits(RunGroup::Group& group, GroupLimits limits) {
  const auto set = [&](const char* file, const std::string& text) {
    return write_small_file(group.path + file, text);
  };
  if (limits.memory_max != group.limits.memory_max) {
    const auto& most = limits.memory_max;
    if (const int error = set("/memory.max", most ? std::to_string(*most) : "max")) return error;
    group.limits.memory_max = most;
    group.measured = false;  // memory counters are read only if memory is limited
    // A run that exceeds its limit is killed as a whole.
    set("/memory.oom.group", most ? "1" : "0");
  }
  if (limits.cpu_weight != group.limits.cpu_weight) {
    const unsigned weight = limits.cpu_weight.value_or(usual_weight);
    if (const int error = set("/cpu.weight", std::to_string(weight))) return error;
    group.limits.cpu_weight = limits.cpu_weight;
  }
  return 0;
}

void ControlGroups::give_back(std::unique_ptr<RunGroup::Group> group) {
  if (group->populated()) {
    group->killed = true;
    kill_group(group->path);
  }
  (group->killed ? dying_ : free_).push_back(std::move(group));
  check_dying();
}

void ControlGroups::check_dying() {
  std::erase_if(dying_, [](const auto& group) {
    return !group->populated() && remove_group(group->path, 0);
  });
}

}  // namespace w8y::process
