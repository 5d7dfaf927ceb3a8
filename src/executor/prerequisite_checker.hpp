// Looks whether this host has what lists need, beside the loop.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
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

/// Looks on threads of its own, and by children that the service starts. A folder may lie on a
/// server that does not answer, and whoever looks at it waits for ever; the threads of libuv's pool
/// are needed to look up names. A look that takes over a second holds up no other. At the end,
/// threads that hang are left behind. The same needs are not looked at twice at once.
class PrerequisiteChecker {
 public:
  using Look = std::function<PrerequisiteResult(const Prerequisites& needs,
                                                std::atomic<PrerequisiteStep>& step)>;
  using Answer = std::function<void(const std::optional<Ineligibility>& refusal)>;

  /// Without a service, trials are made on threads, for programs that may wait for them. `look` is
  /// called on other threads; only tests have their own.
  explicit PrerequisiteChecker(loop::Loop& loop, process::SpawnService* service = nullptr,
                               Look look = {});
  ~PrerequisiteChecker();
  PrerequisiteChecker(const PrerequisiteChecker&) = delete;
  PrerequisiteChecker& operator=(const PrerequisiteChecker&) = delete;

  /// The answer comes from the loop, once, within `timeout`. A host that is short of processes says
  /// nothing about the list: looked at again until then.
  void look(const Prerequisites& needs, Duration timeout, Answer answer);

  /// Looks that go on side by side, without those that have taken over `overdue`.
  static constexpr std::size_t at_once = 4;
  static constexpr Duration slow = std::chrono::seconds(1);
  /// Threads in all, with those that wait for ever.
  static constexpr std::size_t max_threads = 64;

 private:
  struct Work;
  struct Shared;
  class Trial;
  struct Asker {
    Answer answer;
    std::unique_ptr<Timer> timeout;
  };
  struct Asked {
    std::shared_ptr<Work> work;
    std::map<unsigned, Asker> askers;
    std::unique_ptr<Timer> again;
    std::unique_ptr<Trial> trial;
  };

  using Since = std::list<Instant>::iterator;  ///< of a thread: when it began its look

  static void serve(const std::shared_ptr<Shared>& shared, Since since);
  void enqueue(const std::shared_ptr<Work>& work);
  void add_threads();
  void take_answers();
  void answered(const Work& work);
  void over(const Prerequisites& needs, const std::optional<process::SpawnError>& problem);
  void gave_up(const Prerequisites& needs, unsigned asker);
  void hold_loop();

  loop::Loop& loop_;
  process::SpawnService* service_;
  std::shared_ptr<Shared> shared_;
  std::map<Prerequisites, Asked> asked_;
  unsigned askers_ = 0;  ///< that there were
  loop::Watch ready_;
  Timer more_threads_;
  std::vector<std::unique_ptr<Trial>> tried_;  ///< over, and not inside their own call any more
  Timer sweep_;
};

}  // namespace w8y::executor
