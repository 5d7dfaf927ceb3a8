// A listening unix socket and its file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "http/listener.hpp"

namespace w8y::http {

/// nullopt: nobody answers there. Throws std::runtime_error if that can't be found out.
std::optional<SocketHolder> who_listens(const std::string& path);

/// Throws std::runtime_error, which names the path, if another user could replace the socket there.
void check_socket_directory(const std::string& path);

/// Makes the folder if it is missing, takes the place of a socket that nobody answers any more, and
/// removes the file at the end if it is still its own. The file is for owner and group.
class UnixListener final : public Listener {
 public:
  /// Throws SocketInUse; std::runtime_error, which names the path, if it is no socket, too long for
  /// an address, or can't be made.
  explicit UnixListener(std::string path);
  ~UnixListener() override;
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  int release() override;
  [[nodiscard]] std::string address() const override { return path_; }

 private:
  void bind_and_listen();

  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;  ///< which file is ours
  ino_t inode_ = 0;
};

}  // namespace w8y::http
