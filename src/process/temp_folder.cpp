#include "process/temp_folder.hpp"

#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "loop/loop.hpp"

namespace w8y::process {

namespace {

SpawnError failed(const std::string& what, int error) {
  return {error, what + ": " + std::generic_category().message(error)};
}

/// The folder belongs to somebody who may still change it, while we may be root: the standard
/// library's remove_all goes by open descriptors and doesn't follow what was swapped in.
struct Removal {
  uv_work_t work{};
  std::string path;

  static void run(uv_work_t* work) {
    std::error_code ignored;
    std::filesystem::remove_all(static_cast<Removal*>(work->data)->path, ignored);
  }
  static void done(uv_work_t* work, int) { delete static_cast<Removal*>(work->data); }
};

}  // namespace

std::optional<SpawnError> TempFolder::make(const std::optional<Credentials>& owner) {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable != nullptr && *variable == '/' ? variable : "/tmp";
  std::string path = parent + "/w8y-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return failed("can't make a folder in " + parent, errno);
  path_ = std::move(path);
  if (owner && chown(path_.c_str(), owner->uid, owner->gid) != 0)
    return failed("can't hand over the folder " + path_, errno);
  return std::nullopt;
}

TempFolder::~TempFolder() {
  if (path_.empty() || rmdir(path_.c_str()) == 0 || errno == ENOENT) return;
  auto removal = std::make_unique<Removal>();
  removal->path = path_;
  removal->work.data = removal.get();
  if (uv_queue_work(loop_.uv(), &removal->work, Removal::run, Removal::done) == 0)
    static_cast<void>(removal.release());  // done() frees it
}

}  // namespace w8y::process
