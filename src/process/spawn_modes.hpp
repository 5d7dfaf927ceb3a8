// Which starts nobody else can delay, so that the loop may wait for them.
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

/// Whether nobody else can delay a start: the program, its interpreter, the folder and the env_file
/// are root's or our own by their whole path, and on file systems of this machine. Otherwise others
/// could hold up their opening, by a lease or a file system that doesn't answer, or stop the child.
/// The look itself may take as long as a file system does. `lasts` false: so it is only now.
bool is_ours_and_local(const std::string& program, const std::string& cwd,
                       const std::string& env_file, bool& lasts);

/// Why root must not run a program: another user can write it, its interpreter, or a directory
/// above one of them. Empty: only root can, or the program does not exist. May take as long as a
/// file system does.
std::string distrust_of_program(const std::string& program);

/// Knows the way of a start, or finds it out on a thread of its own, because a mere look may take
/// for ever. An answer holds for ten seconds.
class SpawnModes {
 public:
  enum class SpawnMode { unknown, direct, by_helper };
  static constexpr Duration timeout = std::chrono::milliseconds(200);
  static constexpr Duration lasting = std::chrono::seconds(10);

  /// `on_news`: something unknown may be known now; from the loop.
  SpawnModes(loop::Loop& loop, std::function<void()> on_news);
  ~SpawnModes();
  SpawnModes(const SpawnModes&) = delete;
  SpawnModes& operator=(const SpawnModes&) = delete;

  /// An unknown start is looked at. If the look has taken 200 ms, the start goes by the helper.
  SpawnMode way(const SpawnRequest& request);

 private:
  struct Shared;
  struct Known {
    std::optional<bool> direct;  ///< nullopt: being looked at
    Instant until;
    std::optional<Instant> asked;
  };
  void ask(const std::string& key);
  void relieve();
  void take_news();

  loop::Loop& loop_;
  std::function<void()> on_news_;
  std::map<std::string, Known> known_;
  std::shared_ptr<Shared> shared_;  ///< with the thread; nullptr: none yet
  std::unique_ptr<loop::Watch> watch_;
};

}  // namespace w8y::process
