// Opens files by paths that no other user can redirect: directory by directory, link by link.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace w8y {

/// An open file, or why there is none. What was looked at is what is open.
struct TrustedFile {
  TrustedFile() = default;
  TrustedFile(TrustedFile&& other) noexcept;
  TrustedFile& operator=(TrustedFile&& other) noexcept;
  ~TrustedFile();

  int fd = -1;
  int error = 0;        ///< errno; EACCES too if it is there and not trusted
  std::string problem;  ///< empty: it is open. What follows the name: "not found", "belongs to …"
};

struct PathWalk {
  /// Whose files and folders are trusted, besides root's.
  uid_t also = 0;
  /// Called for each folder, link and file on the way, in order. A text that is not empty ends it.
  std::function<std::string(int fd, const struct stat& status)> look;
};

/// Opens a regular file for reading, not blocking. Each folder, symbolic link and the file itself
/// must belong to root (or `also`), and be writable by no group and no others; a sticky folder such
/// as /tmp is fine, as what is in it can't be moved by others.
TrustedFile open_trusted(const std::string& path, const PathWalk& walk = {});
/// The same for a folder: the descriptor is O_PATH.
TrustedFile open_trusted_directory(const std::string& path, const PathWalk& walk = {});
enum class WriteAs {
  append,   ///< at the end of a file, a device or a FIFO
  replace,  ///< a regular file, emptied first; never through a symbolic link
};
/// Opens a file for writing, without blocking; creates it with `mode` if it does not exist. Root
/// opens it in a directory that open_trusted_directory() trusts, never through a symbolic link, and
/// a regular file only if no other user can write it.
TrustedFile open_own_for_writing(const std::string& path, WriteAs how, mode_t mode);
/// Why root cannot rely on a directory, or on the way to it: "is in …, which belongs to …". Empty:
/// it can, or the directory does not exist, or the program does not run as root.
std::string distrust_of_directory(const std::string& path);
/// The same without a look at who can write it.
TrustedFile open_any(const std::string& path);
/// Root opens only what only root can write; anybody else opens what there is to be opened.
TrustedFile open_own(const std::string& path);
/// All of it, if it is not more than `most` bytes; false: `problem` says why not.
bool read_all(const TrustedFile& file, std::size_t most, std::string& text, std::string& problem);
/// open_own() and read_all().
bool read_own(const std::string& path, std::size_t most, std::string& text, std::string& problem);

}  // namespace w8y
