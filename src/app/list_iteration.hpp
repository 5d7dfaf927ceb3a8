// Iterates over the lists of a host, some lists per loop iteration.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "app/host_status.hpp"
#include "core/status.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"

namespace w8y::app {

/// Iteration in steps. All of 10,000 lists at once would block the loop, and with it lease
/// renewals, for 100 ms.
class ListIteration {
 public:
  using Visit = std::function<void(const ListStatus&, const ServedList&)>;
  using Then = std::function<void()>;

  ListIteration(const Clock& clock, TimerQueue& timers, const Supervisor& supervisor,
                const ListStateSource& facts);

  /// Starts an iteration, from the loop. Calls `visit` for each list by prefix, then for removed
  /// lists that still have runs, and finally `then`. Iterations run one after another. A list that
  /// a reload adds or removes meanwhile may be included or not.
  void begin(Visit visit, Then then);

 private:
  struct Iteration {
    Visit visit;
    Then then;
    std::optional<std::string> last;  ///< prefix of the last list
  };
  void next_step();
  [[nodiscard]] bool step(Iteration& walk) const;

  const Clock& clock_;
  const Supervisor& supervisor_;
  const ListStateSource& facts_;
  std::deque<Iteration> walks_;
  Timer timer_;
};

}  // namespace w8y::app
