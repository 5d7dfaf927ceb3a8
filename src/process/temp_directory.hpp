// A folder for one run, gone with it.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "core/timers.hpp"
#include "process/spawn.hpp"
#include "process/tree_removal.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::process {

/// Removes what runs left in their folders: on another thread, one piece at a time, in turn. What
/// stays is tried again, after a pause that grows.
class TempDirectories {
 public:
  /// A piece; and the pauses after a look that changed nothing.
  static constexpr Duration piece = std::chrono::milliseconds(50);
  static constexpr Duration min_pause = std::chrono::seconds(1);
  static constexpr Duration max_pause = std::chrono::minutes(5);

  explicit TempDirectories(loop::Loop& loop);
  ~TempDirectories();
  TempDirectories(const TempDirectories&) = delete;
  TempDirectories& operator=(const TempDirectories&) = delete;

  /// Once for each folder that stays; and once more, without a reason, when it is gone after all.
  std::function<void(const std::string& path, const std::string& why)> on_stays;

  /// `owner` as of FolderRemoval.
  void remove(std::string path, std::optional<uid_t> owner = std::nullopt);
  [[nodiscard]] std::size_t left() const { return all_.size(); }

 private:
  struct Leftover;
  void go_on();
  void went(Leftover& one, TreeRemoval::Result result);

  loop::Loop& loop_;
  std::list<std::shared_ptr<Leftover>> all_;
  std::deque<std::shared_ptr<Leftover>> ready_;
  bool working_ = false;
  std::shared_ptr<TempDirectories*> self_;  ///< for the other thread's end: we may be gone by then
};

/// A fresh folder in $TMPDIR (else /tmp) that only its owner can enter. Destroying it removes it
/// with all that is in it, and follows no symbolic link; what takes longer is left to
/// `directories`, or, without them, done at once by another thread, for which the loop's end waits.
class TempDirectory {
 public:
  explicit TempDirectory(loop::Loop& loop, TempDirectories* directories = nullptr)
      : loop_(loop), directories_(directories) {}
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  /// Makes it, once; it belongs to `owner` if there is one.
  std::optional<SpawnError> make(const std::optional<Credentials>& owner);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  loop::Loop& loop_;
  TempDirectories* directories_;
  std::string path_;            ///< empty: not made
  std::optional<uid_t> owner_;  ///< user of the run, if it is not root
};

}  // namespace w8y::process
