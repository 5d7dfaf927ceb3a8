// Removes a directory and all of its contents, in steps of limited duration.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.hpp"

namespace w8y::process {

/// Removal of a directory. It uses four descriptors at any depth and width: a nested directory is
/// moved to the top before its contents are removed. It does not follow symbolic links or enter
/// other file systems. It does not enter directories of other users than the owner, since a run may
/// have moved them here.
class TreeRemoval {
 public:
  enum class Result { gone, more, stays };

  /// Removes the directory that now has this path, but no later one of that name. `owner` is the
  /// user of the run; nullopt: directories of all users are removed, if this process has
  /// permission.
  explicit TreeRemoval(std::string path, std::optional<uid_t> owner = std::nullopt);

  /// Continues for about `limit`. `stays`: a full pass changed nothing, and problem() returns the
  /// reason.
  Result next_step(Duration limit);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  class Turn;
  bool open_next();
  [[nodiscard]] bool is_owners(uid_t uid) const { return !owner_ || uid == *owner_; }
  void make_accessible(int directory, const char* name) const;

  std::string path_;
  std::optional<uid_t> owner_;
  dev_t device_ = 0;
  ino_t inode_ = 0;           ///< 0: not opened yet
  std::uint64_t lifted_ = 0;  ///< number of directories moved to the top, part of their new names
  std::string problem_;
};

}  // namespace w8y::process
