// Looks at each list of a host, some in a turn of the loop.
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

/// All of ten thousand at once would hold the loop, and renewals with it, for a tenth of a second.
class ListIteration {
 public:
  using Look = std::function<void(const ListStatus&)>;
  using Then = std::function<void()>;

  ListIteration(const Clock& clock, TimerQueue& timers, const Supervisor& supervisor,
                const ListStateSource& facts);

  /// From the loop: `look` for each list by prefix, then those that are gone from the config but
  /// for their last runs; then `then`. One walk after the other. What a reload adds or takes
  /// meanwhile is seen or not.
  void begin(Look look, Then then);

 private:
  struct Iteration {
    Look look;
    Then then;
    std::optional<std::string> last;  ///< the prefix that was looked at last
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
