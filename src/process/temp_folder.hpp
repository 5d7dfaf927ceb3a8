// A folder for one run, gone with it.
#pragma once

#include <optional>
#include <string>

#include "process/spawn.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::process {

/// A fresh folder in $TMPDIR (else /tmp) that only its owner can enter. Destroying it removes it
/// with all that is in it, and follows no symbolic link; what takes longer is done by another
/// thread, and the loop's end waits for it.
class TempFolder {
 public:
  explicit TempFolder(loop::Loop& loop) : loop_(loop) {}
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// Makes it, once; it belongs to `owner` if there is one.
  std::optional<SpawnError> make(const std::optional<Credentials>& owner);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  loop::Loop& loop_;
  std::string path_;  ///< empty: not made
};

}  // namespace w8y::process
