// Programs that hosts run for items. The seed decides how each run behaves.
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

/// Behaviour of a child process.
struct ChildScript {
  enum class End { succeeds, fails, crashes, is_not_started };
  End end = End::succeeds;
  Duration duration{0};
  std::optional<Duration> cooldown;   ///< requested by the child
  Duration heeds{0};                  ///< time from SIGTERM to its end
  bool ignores = false;               ///< SIGTERM
  std::optional<Duration> completes;  ///< time of its `complete`, after which it continues
};

struct Child {
  std::string host;
  std::string list;
  Claim claim;
  ListConfigPtr rule;
  ChildScript story;
  int pid = 0;
};

/// Called at the start and at the end of each child, even while its host is stalled.
class ChildWatcher {
 public:
  virtual ~ChildWatcher() = default;
  virtual void child_born(const Child& child) = 0;
  virtual void child_dead(const Child& child) = 0;
};

/// All child processes of the world.
class Children {
 public:
  Children(World& world, ChildWatcher& watcher)
      : world_(world), watcher_(watcher), random_(world.random.fork(2)) {}

  /// Behaviour of the items of a list. Numbers are percentages.
  struct ItemBehaviour {
    unsigned failing = 15;
    unsigned stubborn = 5;   ///< ignore SIGTERM
    unsigned long_ones = 0;  ///< take up to 4 s
    unsigned telling = 0;    ///< send progress and `complete` before they end
    bool steady = false;     ///< all succeed and request nothing
    Duration shortest = std::chrono::milliseconds(1);
    Duration longest = std::chrono::seconds(3);
  };
  std::map<std::string, ItemBehaviour> manners;  ///< by list
  std::map<std::string, Instant> outages;        ///< by list: until then, all of its runs fail

  std::shared_ptr<Executor> make_executor(Inbox& host, const ListConfig& rule, RunHandler& handler);

 private:
  friend class ScriptedExecutor;
  ChildScript script_of(const ListConfig& rule, const Item& item);

  World& world_;
  ChildWatcher& watcher_;
  Random random_;
  int pids_ = 1000;
};

}  // namespace w8y::sim
