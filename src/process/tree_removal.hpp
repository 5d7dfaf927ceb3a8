// Removing a folder that somebody may have filled with anything, a piece at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.hpp"

namespace w8y::process {

/// However deep and wide it is, it takes four descriptors: a folder in a folder is moved up to the
/// top before what is in it is looked at. Follows no symbolic link, and enters no other file
/// system, nor a directory of another user than the owner: a run may have moved it here.
class TreeRemoval {
 public:
  enum class Result { gone, more, stays };

  /// The folder that is there now; what takes its name later is not touched. `owner` is the user
  /// of the run; nullopt: any user's directories are removed, as far as this process may.
  explicit TreeRemoval(std::string path, std::optional<uid_t> owner = std::nullopt);

  /// Goes on for so long, or a little longer. `stays`: a whole look at it changed nothing, and
  /// problem() says why.
  Result go_on(Duration limit);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  class Turn;
  bool look();
  [[nodiscard]] bool is_owners(uid_t uid) const { return !owner_ || uid == *owner_; }
  void make_accessible(int directory, const char* name) const;

  std::string path_;
  std::optional<uid_t> owner_;
  dev_t device_ = 0;
  ino_t inode_ = 0;           ///< 0: it has not been seen yet
  std::uint64_t lifted_ = 0;  ///< folders that were moved up, for their names
  std::string problem_;
};

}  // namespace w8y::process
