// Determines whether another user can delay the start of a program. If not, the loop may wait for
// it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "process/spawn.hpp"

namespace w8y::loop {
class Loop;
class Watch;
}  // namespace w8y::loop

namespace w8y::process {

/// Returns whether no other user can delay a start. For that, the program, its interpreter, the
/// directory and the env_file must belong to root or the user of this process, along their whole
/// paths. They must be on file systems of this machine. Otherwise other users could delay an open,
/// by a file lease or a file system that does not respond, or stop the child. Blocks while a file
/// system does not respond. `lasts` is false if the result is valid for a short time only.
bool is_ours_and_local(const std::string& program, const std::string& cwd,
                       const std::string& env_file, bool& lasts);

/// Returns why root must not run a program: another user can write it, its interpreter, or a
/// directory above one of them. Empty: only root can, or the program does not exist. Blocks while a
/// file system does not respond.
std::string distrust_of_program(const std::string& program);

/// Cache of the modes in which programs are started: by this process, or by the helper. A separate
/// thread determines the mode, because the check may block forever. A result is valid for ten
/// seconds.
class SpawnModes {
 public:
  enum class SpawnMode { unknown, direct, by_helper };
  static constexpr Duration timeout = std::chrono::milliseconds(200);
  static constexpr Duration lasting = std::chrono::seconds(10);

  /// `on_news`: called from the loop when an unknown mode may be known.
  SpawnModes(loop::Loop& loop, std::function<void()> on_news);
  ~SpawnModes();
  SpawnModes(const SpawnModes&) = delete;
  SpawnModes& operator=(const SpawnModes&) = delete;

  /// Returns the mode of a start. `unknown`: a check is in progress. If the check takes longer than
  /// 200 ms, the mode is `by_helper`.
  SpawnMode way(const SpawnRequest& request);

 private:
  struct Shared;
  struct Known {
    std::optional<bool> direct;  ///< nullopt: check in progress
    Instant until;
    std::optional<Instant> requested;
  };
  void request(const std::string& key);
  void relieve();
  void handle_events();

  loop::Loop& loop_;
  std::function<void()> on_news_;
  std::map<std::string, Known> known_;
  std::shared_ptr<Shared> shared_;  ///< shared with the threads; nullptr: none yet
  std::unique_ptr<loop::Watch> watch_;
};

}  // namespace w8y::process
