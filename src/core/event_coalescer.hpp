// What happens to many lists or runs for one reason, told together: one line of the log per cause.
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

/// The same thing that happened several times.
struct Group {
  std::size_t count = 0;
  std::set<std::string> lists;  ///< to which, by prefix
  [[nodiscard]] bool once() const { return count == 1; }
  [[nodiscard]] bool one_list() const { return lists.size() == 1; }
  /// "a, b, c and 297 more"
  [[nodiscard]] std::string names() const;
};

/// Waits a little for more of the same, and then tells how many there were.
class EventCoalescer {
 public:
  using Tell = std::function<void(const Group& group)>;
  /// Told when nothing more came for `quiet`, at the latest after `longest`.
  static constexpr Duration quiet = std::chrono::milliseconds(300);
  static constexpr Duration longest = std::chrono::seconds(3);

  EventCoalescer(const Clock& clock, TimerQueue& timers) : clock_(clock), timers_(timers) {}

  /// `key` says what is the same; the first one's `tell` tells of all.
  void add(const std::string& key, const std::string& list, Tell tell);
  /// Tells what waits.
  void flush();
  void flush(const std::string& key);

 private:
  struct Waiting {
    Group group;
    Tell tell;
    Instant until;
    std::unique_ptr<Timer> timer;
  };

  const Clock& clock_;
  TimerQueue& timers_;
  std::map<std::string, Waiting> waiting_;
};

/// Troubles that come and go, and that many lists may have at once: one line when one begins, one
/// when the last list is out of it.
class ProblemTracker {
 public:
  struct Over {
    Group group;               ///< all lists that were in it
    std::size_t attempts = 0;  ///< of all of them, in vain
    Duration lasted{0};        ///< for the one that had it longest
  };
  using Begun = std::function<void(const std::string& reason, const Group& group)>;
  using Ended = std::function<void(const std::string& reason, const Over& over)>;

  /// `kind` keeps these apart from others in `gathered`, which outlives them.
  ProblemTracker(EventCoalescer& gathered, std::string kind, Begun started, Ended ended);

  /// `who` is what serves the list. It is in one trouble at a time; those with the same reason are
  /// in the same trouble.
  void begin(const void* who, const std::string& list, const std::string& reason);
  void end(const void* who, std::size_t attempts = 0, Duration lasted = Duration{0});
  /// `who` is gone, which does not mean that the trouble is over.
  void forget(const void* who);
  [[nodiscard]] bool any() const { return !reasons_.empty(); }

 private:
  struct Trouble {
    std::set<const void*> in;
    Over over;
    bool told = false;
  };

  EventCoalescer& gathered_;
  const std::string kind_;
  const Begun started_;
  const Ended ended_;
  std::map<std::string, Trouble> problems_;     ///< by reason
  std::map<const void*, std::string> reasons_;  ///< by who has it
};

}  // namespace w8y
