// Opens files by paths that no other user can redirect: checks every directory and every link.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "core/fd.hpp"

namespace w8y {

/// An open file, or the error. The checks apply to the open descriptor.
struct TrustedFile {
  Fd fd;
  int error = 0;        ///< errno; EACCES also if the file exists and is not trusted
  std::string problem;  ///< the error, to be written after the name: "not found", "belongs to …";
                        ///< empty = the file is open
};

struct PathWalk {
  /// User other than root whose files and directories are trusted.
  uid_t also = 0;
  /// Called for each directory, link and file of the path, in order. Returning a text that is not
  /// empty stops with that error.
  std::function<std::string(int fd, const struct stat& status)> check;
};

/// Opens a regular file for reading, without blocking. The file and each directory and symbolic
/// link of its path must belong to root or `also`, and must not be writable by group or others. A
/// sticky directory such as /tmp is allowed, because other users cannot move its entries.
TrustedFile open_trusted(const std::string& path, const PathWalk& walk = {});
/// The same for a directory. The descriptor is O_PATH.
TrustedFile open_trusted_directory(const std::string& path, const PathWalk& walk = {});
enum class WriteAs {
  append,   ///< to the end of a file, a device or a FIFO
  replace,  ///< a regular file, truncated first; never through a symbolic link
};
/// Opens a file for writing, without blocking; creates it with `mode` if it does not exist. Root
/// opens it in a directory that open_trusted_directory() trusts, never through a symbolic link, and
/// a regular file only if no other user can write it.
TrustedFile open_own_for_writing(const std::string& path, WriteAs how, mode_t mode);
/// Returns why root cannot rely on a directory or on its path: "is in …, which belongs to …". Empty
/// if it can, if the directory does not exist, or if the program does not run as root.
std::string distrust_of_directory(const std::string& path);
/// Opens a file like open_trusted(), but does not check owners and permissions.
TrustedFile open_any(const std::string& path);
/// Opens a file as the current user: root opens only files that only root can write; other users
/// open any file.
TrustedFile open_own(const std::string& path);
/// Reads the whole file if it has at most `most` bytes. Otherwise returns false and sets `problem`.
bool read_all(const TrustedFile& file, std::size_t most, std::string& text, std::string& problem);
/// open_own() and read_all().
bool read_own(const std::string& path, std::size_t most, std::string& text, std::string& problem);

}  // namespace w8y
