#include "http/unix_listener.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "core/trusted_path.hpp"

namespace w8y::http {

namespace {

constexpr mode_t socket_mode = 0660;

/// Maximum that the host allows (net.core.somaxconn). When the backlog is full, the kernel refuses
/// clients that do not wait.
constexpr int backlog = SOMAXCONN;

[[noreturn]] void cant_listen(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot listen on " + path + ": " + why);
}

[[noreturn]] void fail_errno(const std::string& path) {
  cant_listen(path, std::strerror(errno));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty()) cant_listen("''", "the path is empty");
  if (path.find('\0') != std::string::npos) cant_listen(path.c_str(), "the path has a NUL");
  if (path.size() >= sizeof address.sun_path)
    cant_listen(
        path, "the path is longer than " + std::to_string(sizeof address.sun_path - 1) + " bytes");
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

/// Locks a directory until the result is destroyed. The caller checks for a stale socket and binds
/// its own in this time. Without the lock, two programs that start at once could each remove the
/// new socket of the other. Any process that may read the directory can hold the lock forever, so
/// the wait is limited to 1 s.
Fd lock_directory(const std::string& directory) {
  constexpr int tries = 50;
  Fd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; fd && i < tries && flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++i) usleep(20000);
  return fd;
}

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

/// Throws if another user can write to a directory above the socket, and so could replace the
/// socket.
void check_way(const std::string& path, const std::string& directory) {
  if (const std::string why = distrust_of_directory(directory); !why.empty())
    cant_listen(path, "its directory " + why);
}

/// Throws if another user can write to the directory. That user could replace the socket and
/// receive its requests.
void check_directory(const std::string& path, const std::string& directory) {
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0)
    cant_listen(path, "its directory cannot be examined: " + std::string(std::strerror(errno)));
  if (status.st_uid != 0 && status.st_uid != geteuid())
    cant_listen(path, "its directory belongs to user " + std::to_string(status.st_uid) +
                          "; it must belong to root or to the user of w8yd");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    cant_listen(path,
                "its directory can be written by its group or others, so another program could "
                "replace the socket; use chmod go-w, or a separate directory");
  check_way(path, directory);
}

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::optional<SocketHolder> holder_at(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail_errno(path);
  }
  if (!S_ISSOCK(status.st_mode))
    cant_listen(path, "a file that is not a socket exists; remove it, or use another path");
  const Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) fail_errno(path);
  const int result =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = result == 0 ? 0 : errno;
  SocketHolder holder;
  ucred peer{};
  socklen_t size = sizeof peer;
  // Credentials of the process that called listen().
  if (error == 0 && getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    holder.pid = peer.pid;
    holder.name = name_of(peer.pid);
  }
  if (error == 0 || error == EAGAIN) return holder;
  if (error == ECONNREFUSED || error == ENOENT) return std::nullopt;
  cant_listen(path, std::strerror(error));
}

void remove_if_stale(const std::string& path, const sockaddr_un& address) {
  if (const auto holder = holder_at(path, address)) throw SocketInUse(path, *holder);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_errno(path);
}

}  // namespace

std::optional<SocketHolder> who_listens(const std::string& path) {
  return holder_at(path, address_of(path));
}

void check_socket_directory(const std::string& path) {
  check_directory(path, directory_of(path));
}

UnixListener::UnixListener(std::string path) : path_(std::move(path)) {
  const sockaddr_un address = address_of(path_);
  const std::string directory = directory_of(path_);
  check_way(path_, directory_of(directory));
  std::error_code not_made;
  std::filesystem::create_directories(directory, not_made);
  if (not_made) cant_listen(path_, "cannot create its directory: " + not_made.message());
  check_directory(path_, directory);
  fd_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd_) fail_errno(path_);
  // Linux gives the file the mode of the socket, so that no other user can connect before the chmod
  // below.
  fchmod(fd_.get(), socket_mode);
  const Fd lock = lock_directory(directory);
  remove_if_stale(path_, address);
  if (bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail_errno(path_);
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  if (chmod(path_.c_str(), socket_mode) != 0 || listen(fd_.get(), backlog) != 0) {
    const int error = errno;
    unlink(path_.c_str());
    cant_listen(path_, std::strerror(error));
  }
}

UnixListener::~UnixListener() {
  fd_.reset();
  struct stat status {};
  if (lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
    unlink(path_.c_str());
}

}  // namespace w8y::http
