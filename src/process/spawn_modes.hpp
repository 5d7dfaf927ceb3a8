// Classifies starts: those that no other user can delay, so that the loop may wait for them.
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
/// by a lease or a file system that does not respond, or stop the child. The check itself may take
/// as long as a file system does. `lasts` false: the result holds for a short time only.
bool is_ours_and_local(const std::string& program, const std::string& cwd,
                       const std::string& env_file, bool& lasts);

/// Returns why root must not run a program: another user can write it, its interpreter, or a
/// directory above one of them. Empty: only root can, or the program does not exist. May take as
/// long as a file system does.
std::string distrust_of_program(const std::string& program);

/// Cache of the mode of starts. It determines a mode on a thread of its own, because the check may
/// block forever. A result holds for ten seconds.
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

  /// Returns the mode of a start. An unknown one is checked; after 200 ms, the helper starts it.
  SpawnMode way(const SpawnRequest& request);

 private:
  struct Shared;
  struct Known {
    std::optional<bool> direct;  ///< nullopt: check in progress
    Instant until;
    std::optional<Instant> asked;
  };
  void ask(const std::string& key);
  void relieve();
  void take_news();

  loop::Loop& loop_;
  std::function<void()> on_news_;
  std::map<std::string, Known> known_;
  std::shared_ptr<Shared> shared_;  ///< shared with the threads; nullptr: none yet
  std::unique_ptr<loop::Watch> watch_;
};

}  // namespace w8y::process
