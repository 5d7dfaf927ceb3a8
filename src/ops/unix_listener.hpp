// A listening unix socket and its file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace w8y::ops {

/// Who listens on a unix socket.
struct SocketHolder {
  pid_t pid = 0;     ///< 0: not known
  std::string name;  ///< of the program; empty: not known
  /// "w8yd (pid 17)", "another program".
  [[nodiscard]] std::string to_string() const;
};
/// nullopt: nobody answers there. Throws std::runtime_error if that can't be found out.
std::optional<SocketHolder> who_listens(const std::string& path);

class SocketInUse : public std::runtime_error {
 public:
  SocketInUse(const std::string& path, const SocketHolder& holder);
};

/// Makes the folder if it is missing, takes the place of a socket that nobody answers any more, and
/// removes the file at the end if it is still its own. The file is for owner and group.
class UnixListener {
 public:
  /// Throws SocketInUse; std::runtime_error, which names the path, if it is no socket, too long for
  /// an address, or can't be made.
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
