// Own control group of this process, below the group from systemd or a container. It exists as long
// as this object. Groups of earlier w8yds are killed at the start.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "process/cgroup_files.hpp"

namespace w8y::process {

class CgroupRoot {
 public:
  /// ms; killed processes need some time to end.
  static constexpr int timeout_ms = 500;

  /// Finds the group of this process, and creates a group below it.
  explicit CgroupRoot(const CgroupPlace& place);
  /// Removes the group, once it contains no group.
  ~CgroupRoot();
  CgroupRoot(const CgroupRoot&) = delete;
  CgroupRoot& operator=(const CgroupRoot&) = delete;

  /// Returns the directory of the group; empty: there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns why there is no group.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Returns how many processes of an earlier w8yd were found and killed.
  [[nodiscard]] std::size_t left_behind() const { return left_behind_; }

  /// Enables a controller for the groups in it; moves this process to the supervisor group if
  /// necessary. Returns why that is not possible; empty: success.
  std::string enable(const std::string& controller);
  /// Removes the group, because of this problem.
  void give_up(std::string problem);

 private:
  void kill_left_behind();
  void make();
  int step_aside();
  void step_back();

  std::string base_;  ///< group of this process at the start
  std::string path_;
  std::string problem_;
  std::size_t left_behind_ = 0;
  bool aside_ = false;                ///< this process is in path_/supervisor
  std::vector<std::string> enabled_;  ///< controllers that were enabled in base_
};

}  // namespace w8y::process
