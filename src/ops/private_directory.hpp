// Directory that belongs to one process of one user.
#pragma once

#include <string>

#include "core/fd.hpp"

namespace w8y::ops {

/// Directory that is created with mode 0700 if missing, and locked. The lock ends with the process
/// in every case.
class PrivateDirectory {
 public:
  /// Throws std::runtime_error if the directory cannot be created, belongs to another user, is
  /// writable by others, or is locked by another process.
  explicit PrivateDirectory(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }  ///< absolute

 private:
  std::string path_;
  Fd lock_;
};

}  // namespace w8y::ops
