// Which starts can take no longer than we like, and may be waited for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <w8y/clock.hpp>

#include "process/spawn.hpp"

namespace w8y::loop {
class Loop;
class Watch;
}  // namespace w8y::loop

namespace w8y::process {

/// The program, what it names as its interpreter, the folder and the env_file: all of them root's
/// or our own by their whole way, and on file systems of this machine. Then nobody else can hold up
/// their opening, by a lease, by a file system that doesn't answer, by stopping the child.
/// May take as long as a file system does.
bool is_ours_and_local(const std::string& program, const std::string& cwd,
                       const std::string& env_file, bool& lasts);

/// Knows the way of a start, or finds it out: on a thread of its own, as only to look may take for
/// ever. What was found is believed for ten seconds.
class SpawnWays {
 public:
  enum class Way { unknown, direct, by_helper };
  static constexpr Duration patience = std::chrono::milliseconds(200);
  static constexpr Duration lasting = std::chrono::seconds(10);

  /// `on_news`: something unknown may be known now; from the loop.
  SpawnWays(loop::Loop& loop, std::function<void()> on_news);
  ~SpawnWays();
  SpawnWays(const SpawnWays&) = delete;
  SpawnWays& operator=(const SpawnWays&) = delete;

  /// If it is unknown, it is looked at. One that has been looked at for 200 ms goes by the helper.
  Way way(const SpawnRequest& request);

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
