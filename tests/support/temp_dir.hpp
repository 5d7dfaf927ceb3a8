// Temporary directory for one test.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

namespace w8y::test {

/// Returns the contents of a file, empty if it does not exist.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure&) {
    return {};  // file in /proc of a process that has ended meanwhile
  }
}

/// Directory in $TMPDIR or /tmp, with a path short enough for sockets in it. Other users may enter
/// it, because a test may run children as another user. Removed with its contents.
class TempDir {
 public:
  TempDir() : TempDir(base()) {}
  explicit TempDir(const std::string& in) : path_(in + "/w8y-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp " + path_);
    chmod(path_.c_str(), 0755);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text, unsigned mode = 0644) const {
    std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  /// Writes an executable sh script and returns its path.
  std::string script(const std::string& name, const std::string& body) const {
    return file(name, "#!/bin/sh\n" + body + "\n", 0755);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(*this / name); }

 private:
  static std::string base() {
    const char* base = std::getenv("TMPDIR");
    return base != nullptr ? base : "/tmp";
  }

  std::string path_;
};

}  // namespace w8y::test
