// A listening unix socket and its file.
#pragma once

#include <sys/types.h>

#include <string>

namespace w8y::ops {

/// Makes the folder if it is missing, takes the place of a socket that nobody answers any more, and
/// removes the file at the end if it is still its own. The file is for owner and group.
class UnixListener {
 public:
  /// Throws std::runtime_error, which names the path: somebody answers there, it is no socket, it
  /// is too long for an address.
  explicit UnixListener(std::string path);
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  /// Hands the descriptor over: it is the caller's to close.
  int release();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void bind_and_listen();

  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;  ///< which file is ours
  ino_t inode_ = 0;
};

}  // namespace w8y::ops
