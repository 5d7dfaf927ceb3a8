// Temporary directory of one run.
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

/// Removes temporary directories of ended runs on another thread, in round-robin steps. Retries a
/// failed removal after a pause that grows.
class TempDirectories {
 public:
  /// Duration of one step, and the pauses after a pass that changed nothing.
  static constexpr Duration piece = std::chrono::milliseconds(50);
  static constexpr Duration min_pause = std::chrono::seconds(1);
  static constexpr Duration max_pause = std::chrono::minutes(5);

  explicit TempDirectories(loop::Loop& loop);
  ~TempDirectories();
  TempDirectories(const TempDirectories&) = delete;
  TempDirectories& operator=(const TempDirectories&) = delete;

  /// Called once for each directory that cannot be removed, and again, without a reason, when it is
  /// removed.
  std::function<void(const std::string& path, const std::string& why)> on_stays;

  /// `owner`: as in TreeRemoval.
  void remove(std::string path, std::optional<uid_t> owner = std::nullopt);
  [[nodiscard]] std::size_t left() const { return all_.size(); }

 private:
  struct Leftover;
  void next_step();
  void went(Leftover& one, TreeRemoval::Result result);

  loop::Loop& loop_;
  std::list<std::shared_ptr<Leftover>> all_;
  std::deque<std::shared_ptr<Leftover>> ready_;
  bool working_ = false;
  std::shared_ptr<TempDirectories*> self_;  ///< for the other thread, which may outlive this object
};

/// New directory in $TMPDIR (otherwise /tmp) that only its owner can enter. The destructor removes
/// it with its contents, without following symbolic links. A directory with contents is passed to
/// `directories`. Without `directories`, another thread removes it at once, and the destructor of
/// the loop waits for that thread.
class TempDirectory {
 public:
  explicit TempDirectory(loop::Loop& loop, TempDirectories* directories = nullptr)
      : loop_(loop), directories_(directories) {}
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  /// Creates the directory, unless it was created before. It belongs to `owner` if there is one.
  std::optional<SpawnError> make(const std::optional<Credentials>& owner);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  loop::Loop& loop_;
  TempDirectories* directories_;
  std::string path_;            ///< empty: not created
  std::optional<uid_t> owner_;  ///< user of the run, if it is not root
};

}  // namespace w8y::process
