// Our own control group, below the one in which systemd or a container has put us: made at the
// start, gone with us. What an earlier w8yd left there is killed at the start.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "process/cgroup_files.hpp"

namespace w8y::process {

class CgroupRoot {
 public:
  /// What has been killed needs a moment to be gone.
  static constexpr int timeout_ms = 500;

  /// Looks where we are, and makes our group there.
  explicit CgroupRoot(const CgroupPlace& place);
  /// Removes it, once no group is left in it.
  ~CgroupRoot();
  CgroupRoot(const CgroupRoot&) = delete;
  CgroupRoot& operator=(const CgroupRoot&) = delete;

  /// Empty: there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Why there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Processes of an earlier w8yd that were found and killed.
  [[nodiscard]] std::size_t left_behind() const { return left_behind_; }

  /// Lets groups in it have this controller, moving ourselves out of the way if that is needed.
  /// Empty, or why that can't be had here.
  std::string enable(const std::string& controller);
  /// It is of no use: removes it, for that reason.
  void give_up(std::string problem);

 private:
  void kill_left_behind();
  void make();
  int step_aside();
  void step_back();

  std::string base_;  ///< the group that we are in
  std::string path_;
  std::string problem_;
  std::size_t left_behind_ = 0;
  bool aside_ = false;                ///< we are in path_/supervisor
  std::vector<std::string> enabled_;  ///< controllers, by us, in base_
};

}  // namespace w8y::process
