// The programs that hosts run items with: each run a story that the seed tells.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "simulation/network.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

/// How a child behaves.
struct ChildScript {
  enum class End { succeeds, fails, crashes, is_not_started };
  End end = End::succeeds;
  Duration takes{0};
  std::optional<Duration> cooldown;   ///< that it asks for
  Duration heeds{0};                  ///< until it ends after SIGTERM
  bool ignores = false;               ///< SIGTERM
  std::optional<Duration> completes;  ///< it says `complete` then, and goes on
};

struct Child {
  std::string host;
  std::string list;
  Claim claim;
  ListConfigPtr rule;
  ChildScript story;
  int pid = 0;
};

/// Told of each child, by the kernel: whatever its host does meanwhile.
class ChildWatcher {
 public:
  virtual ~ChildWatcher() = default;
  virtual void child_born(const Child& child) = 0;
  virtual void child_dead(const Child& child) = 0;
};

/// All processes of the world.
class Children {
 public:
  Children(World& world, ChildWatcher& watcher)
      : world_(world), watcher_(watcher), random_(world.random.fork(2)) {}

  /// How items of a list behave, in percent.
  struct ItemBehaviour {
    unsigned failing = 15;
    unsigned stubborn = 5;   ///< ignore SIGTERM
    unsigned long_ones = 0;  ///< take a few seconds
    unsigned telling = 0;    ///< say `complete` before they end, or progress
    bool steady = false;     ///< all succeed, and ask for nothing
    Duration shortest = std::chrono::milliseconds(1);
    Duration longest = std::chrono::seconds(3);
  };
  std::map<std::string, ItemBehaviour> manners;  ///< by list

  std::shared_ptr<Executor> make_executor(Inbox& host, const ListConfig& rule, RunHandler& handler);

 private:
  friend class ScriptedExecutor;
  ChildScript tell(const ListConfig& rule, const Item& item);

  World& world_;
  ChildWatcher& watcher_;
  Random random_;
  int pids_ = 1000;
};

}  // namespace w8y::sim
