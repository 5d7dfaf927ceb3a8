#include "ops/private_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "core/trusted_path.hpp"

namespace w8y::ops {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cant_use(const std::string& path, const std::string& why) {
  throw std::runtime_error("cannot use the directory " + path + ": " + why);
}

/// Checks the parent directories, as for a config: a user who can write to one of them can replace
/// the directory.
void check_way(const std::string& path) {
  if (const std::string why = distrust_of_directory(path); !why.empty())
    cant_use(path, "it " + why);
}

void make(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  check_way(parent.string());
  fs::create_directories(parent, error);
  if (error) cant_use(path, "cannot create " + parent.string() + ": " + error.message());
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) cant_use(path, std::strerror(errno));
}

void check(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) cant_use(path, std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) cant_use(path, "it is not a directory");
  if (status.st_uid != geteuid())
    cant_use(path, "it belongs to another user; use another directory");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    cant_use(path, "other users can write to it; run chmod go-w on it, or use another directory");
  check_way(path);
}

}  // namespace

PrivateDirectory::PrivateDirectory(std::string path) {
  std::error_code error;
  path_ = fs::absolute(path, error).lexically_normal().string();
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path.empty() || error) cant_use(path, "the path is empty or invalid");
  make(path_);
  check(path_);
  const std::string file = path_ + "/lock";
  lock_ = Fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) cant_use(path_, "cannot open its lock file: " + std::string(std::strerror(errno)));
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    cant_use(path_, errno == EWOULDBLOCK ? "another w8yd uses it; use another directory"
                                         : std::strerror(errno));
}

}  // namespace w8y::ops
