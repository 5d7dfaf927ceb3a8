// A control group for each run (cgroup v2): nothing that a run starts gets away from it, and a list
// may bound its memory and weigh its share of the processors.
//
//   our own group, as systemd or a container gave it
//   └ w8yd-NAMESPACE-PID-START   ours, gone with us; what an earlier one left is killed at the
//   start
//     ├ supervisor               w8yd itself, only where limits need it out of the way
//     └ 1, 2, …                  a run at a time each, used again until one had to be killed
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "process/cgroup_files.hpp"
#include "process/cgroup_root.hpp"
#include "process/fd.hpp"

namespace w8y::process {

struct GroupLimits {
  std::optional<std::uint64_t> memory_max;  ///< bytes
  std::optional<unsigned> cpu_weight;       ///< 1 to 10000; 100 is what all others have
  [[nodiscard]] bool any() const { return memory_max || cpu_weight; }
  bool operator==(const GroupLimits&) const = default;
};

class ControlGroups;

/// A group for one child, from its birth to its end. Destroying it kills what is left in it.
class RunGroup {
 public:
  RunGroup(RunGroup&& other) noexcept;
  RunGroup& operator=(RunGroup&& other) noexcept;
  ~RunGroup();

  [[nodiscard]] int directory() const;  ///< descriptor, for clone3
  /// Overwrites the members of `used` that the group counts, for the time since it was taken.
  /// Returns the reason if the kernel killed a process of the group; empty: it killed none.
  std::string measure(ResourceUse& used);
  /// SIGKILL to all that is in it.
  void kill();
  /// Somebody may have killed it: it serves no other run.
  void distrust();
  /// It could not take the child.
  void refused(int error);

 private:
  friend class ControlGroups;
  struct Group;
  RunGroup(ControlGroups& owner, std::unique_ptr<Group> group);
  void begin();

  ControlGroups* owner_;
  std::unique_ptr<Group> group_;
};

/// Where the host has no groups for us, take() gives none, at no cost, and problem() says why.
/// Outlives its RunGroups.
class ControlGroups {
 public:
  /// It was usable, and is not any more.
  std::function<void(const std::string& why)> on_problem;

  /// Looks where we are, and makes our group there.
  explicit ControlGroups(const CgroupPlace& place = {});
  ~ControlGroups();
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;

  [[nodiscard]] bool usable() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& path() const { return home_.path(); }
  /// Processes of an earlier w8yd that were found and killed.
  [[nodiscard]] std::size_t left_behind() const { return home_.left_behind(); }

  /// Makes ready for limits of these kinds, moving ourselves out of the way if that is needed.
  /// Empty, or why they can't be had here; runs then go on without.
  std::string prepare(const GroupLimits& wanted);

  /// A group, empty, with these limits as far as they can be had. nullopt: there is none; if limits
  /// were asked for that could be had, `error` says why (errno), else it is 0.
  std::optional<RunGroup> take(const GroupLimits& limits, int& error);

 private:
  friend class RunGroup;

  bool children_live();
  std::unique_ptr<RunGroup::Group> make_group(int& error);
  int set_limits(RunGroup::Group& group, GroupLimits limits);
  void give_back(std::unique_ptr<RunGroup::Group> group);
  void look_at_dying();

  CgroupRoot home_;  ///< goes last: groups stand in it
  std::string problem_;
  std::size_t made_ = 0;
  bool memory_ = false;
  bool cpu_ = false;
  std::vector<std::unique_ptr<RunGroup::Group>> free_;
  std::vector<std::unique_ptr<RunGroup::Group>> dying_;  ///< killed, and not empty yet
};

}  // namespace w8y::process
