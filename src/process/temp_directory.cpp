#include "process/temp_directory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "loop/background.hpp"
#include "loop/loop.hpp"
#include "process/error_text.hpp"

namespace w8y::process {

namespace {

SpawnError failed(const std::string& what, int error) {
  return {error, what + ": " + error_text(error)};
}

}  // namespace

std::optional<SpawnError> TempDirectory::make(const std::optional<Credentials>& owner) {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable != nullptr && *variable == '/' ? variable : "/tmp";
  std::string path = parent + "/w8y-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    SpawnError error = failed("cannot create a directory in " + parent, errno);
    error.of_host = true;  // a missing or read-only directory is not the fault of an item
    return error;
  }
  path_ = std::move(path);
  // w8yd has root's permissions. For a run of another user, it removes only files that this user
  // could remove.
  const uid_t uid = owner ? owner->uid : geteuid();
  if (uid != 0) owner_ = uid;
  if (owner && chown(path_.c_str(), owner->uid, owner->gid) != 0)
    return failed("cannot change the owner of the directory " + path_, errno);
  return std::nullopt;
}

TempDirectory::~TempDirectory() {
  if (path_.empty() || rmdir(path_.c_str()) == 0 || errno == ENOENT) return;
  if (directories_ != nullptr) {
    directories_->remove(std::move(path_), owner_);
    return;
  }
  loop::in_background(loop_, [removal = TreeRemoval(path_, owner_)]() mutable {
    while (removal.next_step(TempDirectories::piece) == TreeRemoval::Result::more) {
    }
  });
}

struct TempDirectories::Leftover {
  Leftover(loop::Loop& loop, std::string path, std::optional<uid_t> owner)
      : removal(std::move(path), owner), again(loop.timers()) {}

  TreeRemoval removal;  ///< used by the other thread during a removal
  Duration pause = min_pause;
  bool reported = false;
  Timer again;
};

TempDirectories::TempDirectories(loop::Loop& loop)
    : loop_(loop), self_(std::make_shared<TempDirectories*>(this)) {}

TempDirectories::~TempDirectories() {
  *self_ = nullptr;
  for (const auto& one : all_) one->again.cancel();
}

void TempDirectories::remove(std::string path, std::optional<uid_t> owner) {
  all_.push_back(std::make_shared<Leftover>(loop_, std::move(path), owner));
  ready_.push_back(all_.back());
  next_step();
}

void TempDirectories::next_step() {
  if (working_ || ready_.empty()) return;
  const auto one = std::move(ready_.front());
  ready_.pop_front();
  const auto result = std::make_shared<TreeRemoval::Result>(TreeRemoval::Result::stays);
  const auto work = [one, result] { *result = one->removal.next_step(piece); };
  const auto then = [self = self_, one, result] {
    if (*self != nullptr) (*self)->went(*one, *result);
  };
  working_ = loop::in_background(loop_, work, then);
  if (!working_) went(*one, TreeRemoval::Result::stays);
}

void TempDirectories::went(Leftover& one, TreeRemoval::Result result) {
  working_ = false;
  const auto owned =
      std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.get() == &one; });
  switch (result) {
    case TreeRemoval::Result::gone:
      if (one.reported && on_stays) on_stays(one.removal.path(), {});
      all_.erase(owned);
      break;
    case TreeRemoval::Result::more:
      ready_.push_back(*owned);
      break;
    case TreeRemoval::Result::stays:
      if (!std::exchange(one.reported, true) && on_stays)
        on_stays(one.removal.path(), one.removal.problem());
      one.again.set(loop_.now() + one.pause, [this, one = owned->get()] {
        for (const auto& each : all_)
          if (each.get() == one) ready_.push_back(each);
        next_step();
      });
      one.pause = std::min(one.pause * 2, max_pause);
      break;
  }
  next_step();
}

}  // namespace w8y::process
