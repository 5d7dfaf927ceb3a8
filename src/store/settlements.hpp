// Settlements of runs: batched, and kept until Redis has confirmed them.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "store/redis_session.hpp"
#include "store/store_error.hpp"

namespace w8y::store {

template <class Kind>
class SettlementWords;
/// Function that stores a text and returns its view.
using KeepText = std::function<std::string_view(std::string text)>;

/// Result of a script that settles.
struct SettleResult {
  std::optional<StoreError> trouble = std::nullopt;
  /// The script changed nothing. read() has updated the call, which must be sent again.
  bool again = false;
};

/// Settlements of one list, and the events of its runs. Many in one write and one script call cost
/// a fraction of single calls, so each waits a few ms for others.
/// A settlement that Redis refuses is retried. If it was refused because of a key, it is sent alone
/// from then on, so that the others succeed. While much data to Redis is in flight, the remaining
/// settlements wait: calls of other lists are sent in between, and the send buffer stays small. A
/// settlement that can never be sent is abandoned, and an event that is too large for a call is
/// dropped.
///
/// `Kind` is the kind of work. It has:
///   Keys, Call            names of the keys; arguments of a settlement; see CircularEnds
///   script()              script that settles
///   most_settled          maximum per call, so that Redis is not blocked for long
///   bytes_of(call)        size without the record (event, more)
///   goes_alone(call)      whether it must be in a call of its own
///   list_of(keys)         name of the list in messages
///   Words(keys, calls)    keys and arguments of the script; see SettlementWords
///   read(session, answer, call)  SettleResult; `call`: the first one
/// A Call has run, event, more, history, again and optionally stale, as in SettleCall. The
/// implementation is in settlements_impl.hpp, for the file that instantiates this template.
template <class Kind>
class Settlements {
 public:
  using Keys = typename Kind::Keys;
  using Call = typename Kind::Call;
  enum class Wait {
    none,  ///< send at once
    turn,  ///< until the end of this loop iteration, which costs no time
    span,  ///< at most 5 ms; as `turn` while runs end less often than that
  };

  struct Handler {
    /// Called from the loop when Redis has confirmed the last settlement.
    std::function<void()> none_left;
    /// Called from anywhere when a settlement, or a part of it, will never be written. `why`: the
    /// reason.
    std::function<void(const RunId& run, const std::string& why)> given_up;
    /// Called from the loop when Redis refuses a part of a settlement other than the lock, each
    /// time. `refused`: the write error; empty = writes succeed again.
    std::function<void(const std::string& refused)> unwritten;
  };
  Settlements(RedisSession& session, Handler handler);
  ~Settlements();
  Settlements(const Settlements&) = delete;
  Settlements& operator=(const Settlements&) = delete;

  struct Times {
    Instant lease_ends{};  ///< end of the lease of the run
    Instant forget_at{};   ///< time at which the settlement is abandoned if a reload has replaced
                           ///< the session (RedisSession::retire)
  };
  /// Adds a settlement. `hold`: reservation of its item until it is confirmed.
  void add(std::shared_ptr<const Keys> keys, Call&& call, const Times& times, ItemRoom::Hold&& hold,
           Wait wait);
  /// Publishes a message on the events channel, before any settlement that is added later. While
  /// runs end often, it waits at most 5 ms for others.
  void publish(std::shared_ptr<const Keys> keys, std::string&& message);
  /// Sends everything that waits for others.
  void send();
  /// Retries refused settlements. Called when the connection is up again, and by a timer.
  void retry();
  [[nodiscard]] std::size_t size() const { return unsettled_.size(); }

 private:
  struct Unsettled {
    std::shared_ptr<const Keys> keys;
    Call call;
    Times times;
    ItemRoom::Hold hold;
    bool alone = false;  ///< whether it must be in a call of its own
    Instant since{};
  };
  struct News {
    std::shared_ptr<const Keys> keys;
    std::string message;
  };
  /// All pending settlements. Each keeps its address until Redis has confirmed it.
  using All = std::list<Unsettled>;
  using Some = std::vector<typename All::iterator>;

  void fit(Call& call) const;
  [[nodiscard]] bool in_quick_succession() const;
  void gather(Wait wait);
  void send_settlements();
  void send_or_wait(Some&& runs, std::size_t bytes);
  void send_batch(Some&& runs, bool large);
  void note_unwritten(const Call& call, const StoreError* trouble);
  void answered(typename All::iterator run, const StoreError* trouble);
  void give_up_overdue();
  void over(typename All::iterator run);
  void retry_at(Instant at);

  RedisSession& session_;
  Handler handler_;
  std::string unwritten_;
  All unsettled_;
  Some gathered_;
  Some refused_;  ///< refused by Redis or not sent
  std::vector<News> news_;
  std::size_t news_bytes_ = 0;
  std::size_t large_asked_ = 0;  ///< large calls in flight
  Instant last_end_;
  Timer gather_;
  Timer retry_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
