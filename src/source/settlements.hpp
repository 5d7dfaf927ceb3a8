// How runs end in Redis: gathered, sent together, and kept until Redis has confirmed it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <w8y/clock.hpp>
#include <w8y/timers.hpp>

#include "source/redis_link.hpp"

namespace w8y::source {

/// Settlements of one list, and the news of its runs. Many in one write and one script call cost
/// Redis and us a fraction of as many calls, so what can wait a little waits for others. What Redis
/// refuses is tried again; what it refuses because of a key goes without the others from then on,
/// so that they are settled.
class Settlements {
 public:
  enum class Wait {
    none,  ///< there are no others
    turn,  ///< to the end of this turn of the loop, which costs no time
    span,  ///< a few ms; while runs end less often than that, as `turn`
  };

  /// `none_left` is called, from the loop, when Redis has confirmed the last one.
  Settlements(RedisLink& link, std::function<void()> none_left);
  ~Settlements();
  Settlements(const Settlements&) = delete;
  Settlements& operator=(const Settlements&) = delete;

  struct Times {
    Instant lease_ends{};  ///< of the run
    Instant forget_at{};   ///< given up then, on a connection that was replaced (RedisLink::retire)
  };
  void add(std::shared_ptr<const CircularKeys> keys, SettleCall&& call, const Times& times,
           Wait wait);
  /// A message for the events channel; it comes before what is settled after it.
  void publish(std::shared_ptr<const CircularKeys> keys, std::string&& message, Wait wait);
  /// What waits for others does so no longer.
  void send();
  /// The connection is back.
  void retry();
  [[nodiscard]] std::size_t size() const { return unsettled_.size(); }

 private:
  struct Unsettled {
    std::shared_ptr<const CircularKeys> keys;
    SettleCall call;
    Times times;
    bool alone = false;  ///< not in one call with others
    Instant since{};
  };
  struct News {
    std::shared_ptr<const CircularKeys> keys;
    std::string message;
  };
  using Runs = std::vector<RunId>;

  [[nodiscard]] bool in_quick_succession() const;
  void gather(Wait wait);
  void send_settlements();
  void send_batch(Runs&& runs);
  void answered(const RunId& run, const Trouble* trouble);
  void give_up_overdue();
  void retry_at(Instant at);

  RedisLink& link_;
  std::function<void()> none_left_;
  std::map<RunId, Unsettled> unsettled_;
  Runs gathered_;
  Runs refused_;  ///< or not sent
  std::vector<News> news_;
  std::size_t news_bytes_ = 0;
  Instant last_end_;
  Timer gather_;
  Timer retry_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::source
