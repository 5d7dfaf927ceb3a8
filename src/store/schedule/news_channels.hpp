// What is heard of a schedule: what hosts and w8yctl say, and, where Redis tells of changed keys,
// what anybody else does to its queues or its timeline.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.hpp"
#include "redis/subscriber.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/keys.hpp"
#include "store/schedule/queue.hpp"

namespace w8y::store {

class ScheduleNewsChannels {
 public:
  struct Handler {
    /// Once for what came together, however often and by whomever it was said.
    std::function<void(ScheduleNews)> news;
    /// Nobody has told us what has happened until now.
    std::function<void()> back;
  };
  /// `jobs`: what is entered in the queues, room for a run, orders. `timeline`: what is due,
  /// orders.
  enum class About { nothing, jobs, timeline };
  ScheduleNewsChannels(RedisSession& session, Handler handler);
  ~ScheduleNewsChannels();
  ScheduleNewsChannels(const ScheduleNewsChannels&) = delete;
  ScheduleNewsChannels& operator=(const ScheduleNewsChannels&) = delete;

  /// Of the schedule with this rule. To be said again when that has changed.
  void listen(About about, const ListConfig& rule);
  /// It would be told of whatever others do to those keys.
  [[nodiscard]] bool hears_changes() const;

 private:
  void hear_changes();
  void heard(std::string_view message);
  void add(ScheduleNews news);
  void tell();
  [[nodiscard]] bool is_ours(std::string_view codes) const;

  RedisSession& session_;
  const Handler handler_;
  About about_ = About::nothing;
  std::string prefix_;
  std::vector<std::string> queues_;
  redis::Subscription wake_;
  bool confirmed_ = false;                    ///< wake_ is
  std::vector<redis::Subscription> changes_;  ///< of keys
  std::size_t changes_confirmed_ = 0;  ///< since they were subscribed; counted again and again
  std::vector<ScheduleNews> news_;     ///< not told yet
  Timer tell_;
};

}  // namespace w8y::store
