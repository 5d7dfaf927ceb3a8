// Directory that belongs to one process of one user.
#pragma once

#include <string>

namespace w8y::ops {

/// Directory that is created with mode 0700 if missing, and locked. The lock ends with the process
/// in every case.
class PrivateDirectory {
 public:
  /// Throws std::runtime_error if the directory cannot be created, belongs to another user, is
  /// writable by others, or is locked by another process.
  explicit PrivateDirectory(std::string path);
  ~PrivateDirectory();
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  ///< absolute

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace w8y::ops
