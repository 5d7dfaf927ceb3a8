// How runs end in Redis: gathered, sent together, and kept until Redis has confirmed it.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/timers.hpp"
#include "store/redis_session.hpp"

namespace w8y::store {

/// Settlements of one list, and the news of its runs. Many in one write and one script call cost
/// Redis and us a fraction of as many calls, so what can wait a little waits for others. What Redis
/// refuses is tried again; what it refuses because of a key goes without the others from then on,
/// so that they are settled. While much is on its way to Redis, the rest waits: other lists' calls
/// get between, and the connection is never given more than it carries. What can't be sent at all
/// is given up, and so is the news of a run that says more than belongs into a call.
///
/// `Kind` is the kind of work. It has
///   Keys, Call, Answer   names of the keys; what is said of the end of a run; see ScriptLocks
///   most_settled         by one call, so that Redis is never held for long
///   bytes_of(call)       besides its record (event, more)
///   goes_alone(call)     not in one call with others
///   list_of(keys)        the list's name, for people
///   send(session, keys, calls, answer)
/// and a Call has run, event, more, history, again and stale, as a SettleCall.
/// settlements_impl.hpp has the rest, for the file that instantiates it.
template <class Kind>
class Settlements {
 public:
  using Keys = typename Kind::Keys;
  using Call = typename Kind::Call;
  enum class Wait {
    none,  ///< there are no others
    turn,  ///< to the end of this turn of the loop, which costs no time
    span,  ///< a few ms; while runs end less often than that, as `iterate`
  };

  struct Handler {
    /// Redis has confirmed the last one. From the loop.
    std::function<void()> none_left;
    /// Why something of a run's end will never be written. From anywhere.
    std::function<void(const RunId& run, const std::string& why)> given_up;
    /// What Redis refuses beside the locks, at each end that it refuses in part; empty: nothing any
    /// more. From the loop.
    std::function<void(const std::string& refused)> unwritten;
  };
  Settlements(RedisSession& session, Handler handler);
  ~Settlements();
  Settlements(const Settlements&) = delete;
  Settlements& operator=(const Settlements&) = delete;

  struct Times {
    Instant lease_ends{};  ///< of the run
    Instant
        forget_at{};  ///< given up then, on a connection that was replaced (RedisSession::retire)
  };
  /// `hold`: of its item, until it is settled.
  void add(std::shared_ptr<const Keys> keys, Call&& call, const Times& times, ItemRoom::Hold&& hold,
           Wait wait);
  /// A message for the events channel; it comes before what is settled after it.
  void publish(std::shared_ptr<const Keys> keys, std::string&& message, Wait wait);
  /// What waits for others does so no longer.
  void send();
  /// The connection is back.
  void retry();
  [[nodiscard]] std::size_t size() const { return unsettled_.size(); }

 private:
  struct Unsettled {
    std::shared_ptr<const Keys> keys;
    Call call;
    Times times;
    ItemRoom::Hold hold;
    bool alone = false;  ///< not in one call with others
    Instant since{};
  };
  struct News {
    std::shared_ptr<const Keys> keys;
    std::string message;
  };
  /// Each stays where it is until Redis has confirmed it.
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
  Some refused_;  ///< or not sent
  std::vector<News> news_;
  std::size_t news_bytes_ = 0;
  std::size_t large_asked_ = 0;  ///< runs in large calls that are not answered yet
  Instant last_end_;
  Timer gather_;
  Timer retry_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
