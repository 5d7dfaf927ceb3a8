#include "process/temp_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "loop/background.hpp"

namespace w8y::process {

namespace {

SpawnError failed(const std::string& what, int error) {
  return {error, what + ": " + std::generic_category().message(error)};
}

/// The folder belongs to somebody who may still change it, while we may be root: the standard
/// library's remove_all goes by open descriptors and doesn't follow what was swapped in.
void remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace

std::optional<SpawnError> TempFolder::make(const std::optional<Credentials>& owner) {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable != nullptr && *variable == '/' ? variable : "/tmp";
  std::string path = parent + "/w8y-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    SpawnError error = failed("can't make a folder in " + parent, errno);
    error.of_host = true;  // that the place is not there, or read-only, is no item's fault either
    return error;
  }
  path_ = std::move(path);
  if (owner && chown(path_.c_str(), owner->uid, owner->gid) != 0)
    return failed("can't hand over the folder " + path_, errno);
  return std::nullopt;
}

TempFolder::~TempFolder() {
  if (path_.empty() || rmdir(path_.c_str()) == 0 || errno == ENOENT) return;
  loop::in_background(loop_, [path = path_] { remove(path); });
}

}  // namespace w8y::process
