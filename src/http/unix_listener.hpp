// Listening unix socket and its file.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/fd.hpp"
#include "http/listener.hpp"

namespace w8y::http {

/// Finds the process that listens at `path`. nullopt: no process listens there. Throws
/// std::runtime_error if this cannot be determined.
std::optional<SocketHolder> who_listens(const std::string& path);

/// Throws std::runtime_error with the path if another user could replace the socket.
void check_socket_directory(const std::string& path);

/// Unix socket with its file. Creates the directory if it is missing, and replaces a stale socket.
/// The destructor removes the file if it is still the one of this listener. The file is accessible
/// to owner and group.
class UnixListener final : public Listener {
 public:
  /// Throws SocketInUse, or std::runtime_error with the path if the file is not a socket, the path
  /// is too long for an address, or the socket cannot be created.
  explicit UnixListener(std::string path);
  ~UnixListener() override;
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  int release() override { return fd_.release(); }
  [[nodiscard]] std::string address() const override { return path_; }

 private:
  std::string path_;
  Fd fd_;
  dev_t device_ = 0;  ///< identifies the file of this listener
  ino_t inode_ = 0;
};

}  // namespace w8y::http
