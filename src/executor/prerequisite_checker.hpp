// Checks prerequisites of lists without blocking the loop.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "core/caps.hpp"
#include "core/clock.hpp"
#include "core/timers.hpp"
#include "executor/prerequisites.hpp"
#include "loop/watch.hpp"

namespace w8y::loop {
class Loop;
}
namespace w8y::process {
class SpawnService;
}

namespace w8y::executor {

/// Checker with threads of its own, and with children that the spawn service starts. A directory
/// may be on a server that does not respond, so that its check blocks forever. The threads of
/// libuv's pool are needed for name resolution. A check that takes more than one second does not
/// delay others. The destructor does not wait for blocked threads. Equal prerequisites are checked
/// only once at a time.
class PrerequisiteChecker {
 public:
  using Check = std::function<PrerequisiteResult(const Prerequisites& needs,
                                                 std::atomic<PrerequisiteStep>& step)>;
  using Answer = std::function<void(const std::optional<Ineligibility>& refusal)>;

  /// Without a service, the threads make the trials, for programs that may wait for them. `check`
  /// is called on the threads; only tests set it.
  explicit PrerequisiteChecker(loop::Loop& loop, process::SpawnService* service = nullptr,
                               Check check = {});
  ~PrerequisiteChecker();
  PrerequisiteChecker(const PrerequisiteChecker&) = delete;
  PrerequisiteChecker& operator=(const PrerequisiteChecker&) = delete;

  /// Checks prerequisites. The loop calls `answer` once, within `timeout`. If the host is short of
  /// processes, the check is repeated until then.
  void check(const Prerequisites& needs, Duration timeout, Answer answer);

  /// Maximum number of checks at the same time, not counting those that have taken longer than
  /// `slow`.
  static constexpr std::size_t at_once = 4;
  static constexpr Duration slow = std::chrono::seconds(1);
  /// Maximum number of threads, including blocked ones.
  static constexpr std::size_t max_threads = 64;

 private:
  struct Work;
  struct Shared;
  class Trial;
  struct Asker {
    Answer callback;
    std::unique_ptr<Timer> timeout;
  };
  struct Asked {
    std::shared_ptr<Work> work;
    std::map<unsigned, Asker> askers;
    std::unique_ptr<Timer> again;
    std::unique_ptr<Trial> trial;
  };

  using Since = std::list<Instant>::iterator;  ///< start of the current check of a thread

  static void serve(const std::shared_ptr<Shared>& shared, Since since);
  void enqueue(const std::shared_ptr<Work>& work);
  void add_threads();
  void handle_answers();
  void on_checked(const Work& work);
  void finish(const Prerequisites& needs, const std::optional<process::SpawnError>& problem);
  void gave_up(const Prerequisites& needs, unsigned asker);
  void hold_loop();

  loop::Loop& loop_;
  process::SpawnService* service_;
  std::shared_ptr<Shared> shared_;
  std::map<Prerequisites, Asked> pending_;
  unsigned askers_ = 0;  ///< total so far, used as the last ID
  loop::Watch ready_;
  Timer more_threads_;
  std::vector<std::unique_ptr<Trial>> tried_;  ///< ended trials, until their callbacks return
  Timer sweep_;
};

}  // namespace w8y::executor
