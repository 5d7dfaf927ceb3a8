// The queues of a schedule as their store has them: the port between deciding when to take jobs and
// what becomes of them (ScheduleSource), and doing that in Redis.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <w8y/source.hpp>

#include "store/circular/settlement.hpp"
#include "store/schedule/effect.hpp"

namespace w8y::store {

// What becomes of a job after its run, if its key still has our tag.
struct ActOnSchedule {
  std::optional<Duration> backoff;  ///< counts with CONTINUE only
};
/// Whatever its schedule.
struct AgainIn {
  Duration time{0};
};
/// Its schedule is STOP from now on.
struct StopFromNow {};
struct UnsetIt {};
/// Status DIE; it is not scheduled any more.
struct Die {};
/// To the taking end of its queue, as if it had not been taken.
struct PutBack {};
using Fate = std::variant<ActOnSchedule, AgainIn, StopFromNow, UnsetIt, Die, PutBack>;

struct JobEnd : EndedRun {
  Fate fate;
  FailureCount failures = FailureCount::keep;
};

struct TakeReply {
  std::vector<Claim> claims;
  ClaimEnd end = ClaimEnd::more;
  /// When there may be work, if that is known: a pause ends, a place in the fleet becomes free.
  std::optional<Duration> next;
  std::string detail;              ///< why it is paused, halted, unavailable or refused; for people
  std::vector<ShownItem> refused;  ///< jobs that are too long: BAD from now on
};

class JobQueuesHandler : public ClaimHandler {
 public:
  virtual void on_taken(TakeReply&& reply) = 0;
  /// A queue may have something, a place may be free, or a pause may be over. Anybody can say that,
  /// and as often as he likes.
  virtual void on_wake() = 0;
  /// Redis is back, or its channels: nobody has told us what has happened meanwhile.
  virtual void on_back() = 0;
};

/// What a job's schedule says of it, at a time of Redis's clock (decide(), in source/schedule).
struct Decided {
  std::string schedule;  ///< from now on
  SetEffect effect;
};
using Decide = std::function<Decided(std::string_view schedule, UnixSeconds now)>;

/// Never calls its handler from inside a call of its own; callbacks stop when it is destroyed.
class JobQueues {
 public:
  virtual ~JobQueues() = default;
  /// Before the first take; and again with a changed rule.
  virtual void use(RulePtr rule) = 0;
  /// Up to `wanted` jobs, at most one take at a time; answered by one on_taken(). The visits of the
  /// queues go on where those of the last one ended.
  virtual void take(std::size_t wanted) = 0;
  /// Whether on_wake() is wanted.
  virtual void listen(bool on) = 0;
  /// Whether what others enter in the queues is heard of at once (keyspace events).
  [[nodiscard]] virtual bool hears() const = 0;
  // As a Source has them.
  virtual void settle(JobEnd&& end) = 0;
  virtual void hand_back(const Claim& claim) = 0;
  [[nodiscard]] virtual bool may_start(const Claim& claim) const = 0;
  virtual void announce(const RunEvent& event) = 0;
  [[nodiscard]] virtual std::size_t unsettled() const = 0;
};

}  // namespace w8y::store
