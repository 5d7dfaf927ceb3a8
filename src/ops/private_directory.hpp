// A folder that one process of one user has for itself.
#pragma once

#include <string>

namespace w8y::ops {

/// Made with mode 0700 if it is missing, and locked. The lock goes with the process, however it
/// ends.
class PrivateDirectory {
 public:
  /// Throws std::runtime_error: it can't be made, it belongs to somebody else, others can write in
  /// it, or another process has it.
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
