// Coalesces events of many lists or runs with the same cause: one log line per cause.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/clock.hpp"
#include "core/timers.hpp"

namespace w8y {

/// Coalesced events.
struct Group {
  std::size_t count = 0;
  std::set<std::string> lists;  ///< the lists that they affect, by prefix
  [[nodiscard]] bool once() const { return count == 1; }
  [[nodiscard]] bool one_list() const { return lists.size() == 1; }
  /// "a, b, c and 297 more"
  [[nodiscard]] std::string names() const;
};

/// Collects events with the same key for a short time, then reports their number.
class EventCoalescer {
 public:
  using Tell = std::function<void(const Group& group)>;
  /// Reported after `quiet` without another event, and `longest` after the first event at the
  /// latest.
  static constexpr Duration quiet = std::chrono::milliseconds(300);
  static constexpr Duration longest = std::chrono::seconds(3);

  EventCoalescer(const Clock& clock, TimerQueue& timers) : clock_(clock), timers_(timers) {}

  /// Adds an event. Events with the same `key` are coalesced. Only the `tell` of the first event is
  /// called.
  void add(const std::string& key, const std::string& list, Tell tell);
  /// Reports all pending events.
  void flush();
  void flush(const std::string& key);

 private:
  struct Waiting {
    Group group;
    Tell report;
    Instant until;
    std::unique_ptr<Timer> timer;
  };

  const Clock& clock_;
  TimerQueue& timers_;
  std::map<std::string, Waiting> waiting_;
};

/// Problems that start and end, and that many lists may have at once. Logs one line when a problem
/// starts, and one line when the last list no longer has it.
class ProblemTracker {
 public:
  struct Over {
    Group group;               ///< all lists that had the problem
    std::size_t attempts = 0;  ///< sum over all lists
    Duration lasted{0};        ///< maximum over all lists
  };
  using Begun = std::function<void(const std::string& reason, const Group& group)>;
  using Ended = std::function<void(const std::string& reason, const Over& over)>;

  /// `kind` separates these problems from others in `gathered`, which must outlive this object.
  ProblemTracker(EventCoalescer& gathered, std::string kind, Begun started, Ended ended);

  /// Starts a problem of a list. `who` identifies the poller. A poller has at most one problem at a
  /// time. Pollers with the same reason have the same problem.
  void begin(const void* who, const std::string& list, const std::string& reason);
  void end(const void* who, std::size_t attempts = 0, Duration lasted = Duration{0});
  /// Removes `who` because it no longer exists. The problem counts as neither ended nor continuing.
  void forget(const void* who);
  [[nodiscard]] bool any() const { return !reasons_.empty(); }

 private:
  struct Trouble {
    std::set<const void*> in;
    Over ended;
    bool reported = false;
  };

  EventCoalescer& gathered_;
  const std::string kind_;
  const Begun started_;
  const Ended ended_;
  std::map<std::string, Trouble> problems_;     ///< by reason
  std::map<const void*, std::string> reasons_;  ///< by poller
};

}  // namespace w8y
