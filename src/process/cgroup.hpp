// Control groups for runs (cgroup v2): no process that a run starts can leave its group, and a list
// can limit memory and set its share of CPU time.
//
//   group of w8yd                from systemd or a container
//   └ w8yd-NAMESPACE-PID-START   own group, removed at the end; those of earlier w8yds are killed
//     ├ supervisor               w8yd itself, only if limits require that it moves there
//     └ 1, 2, …                  one run at a time each, reused until a run is killed
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.hpp"
#include "core/outcome.hpp"
#include "process/cgroup_files.hpp"
#include "process/cgroup_root.hpp"

namespace w8y::process {

struct GroupLimits {
  std::optional<std::uint64_t> memory_max;  ///< bytes
  std::optional<unsigned> cpu_weight;       ///< from 1 to 10000; 100 is the default of the kernel
  [[nodiscard]] bool any() const { return memory_max || cpu_weight; }
  bool operator==(const GroupLimits&) const = default;
};

class ControlGroups;

/// Group of one child, from its spawn to its end. Its destructor kills the remaining processes.
class RunGroup {
 public:
  RunGroup(RunGroup&& other) noexcept;
  RunGroup& operator=(RunGroup&& other) noexcept;
  ~RunGroup();

  [[nodiscard]] int directory() const;  ///< descriptor, for clone3
  /// Sets the members of `used` that the group counts, since it was acquired. Returns the reason if
  /// the kernel killed a process of the group; otherwise empty.
  std::string measure(ResourceUse& used);
  /// Sends SIGKILL to all processes of the group.
  void kill();
  /// Prevents another run from using the group, because another process may have killed it.
  void distrust();
  /// Called when the child could not be spawned in the group.
  void refused(int error);

 private:
  friend class ControlGroups;
  struct Group;
  RunGroup(ControlGroups& owner, std::unique_ptr<Group> group);
  void begin();

  ControlGroups* owner_;
  std::unique_ptr<Group> group_;
};

/// Pool of groups. If the host has none for w8yd, acquire() returns nullopt at no cost, and
/// problem() returns the reason. Outlives its RunGroups.
class ControlGroups {
 public:
  /// Called when groups are no longer usable.
  std::function<void(const std::string& why)> on_problem;

  /// Finds the group of this process, and creates a group below it.
  explicit ControlGroups(const CgroupPlace& place = {});
  ~ControlGroups();
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;

  [[nodiscard]] bool usable() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& path() const { return home_.path(); }
  /// Returns how many processes of an earlier w8yd were found and killed.
  [[nodiscard]] std::size_t left_behind() const { return home_.left_behind(); }

  /// Prepares for limits of these kinds; moves this process to the supervisor group if necessary.
  /// Returns why that is not possible, so that runs have no such limits; empty: success.
  std::string prepare(const GroupLimits& wanted);

  /// Returns an empty group with these limits, as far as they are available. nullopt: there is no
  /// group; `error` is then the errno if available limits were requested, otherwise 0.
  std::optional<RunGroup> acquire(const GroupLimits& limits, int& error);

 private:
  friend class RunGroup;

  bool children_live();
  std::unique_ptr<RunGroup::Group> make_group(int& error);
  int set_limits(RunGroup::Group& group, GroupLimits limits);
  void give_back(std::unique_ptr<RunGroup::Group> group);
  void check_dying();

  CgroupRoot home_;  ///< destroyed last: it contains the groups
  std::string problem_;
  std::size_t made_ = 0;
  bool memory_ = false;
  bool cpu_ = false;
  std::vector<std::unique_ptr<RunGroup::Group>> free_;
  std::vector<std::unique_ptr<RunGroup::Group>> dying_;  ///< killed, and not empty yet
};

}  // namespace w8y::process
