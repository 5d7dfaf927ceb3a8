// Notifications of a schedule: messages by hosts and w8yctl, and keyspace notifications about
// changes that any other client makes to its queues or timeline.
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
    /// Called once for all equal notifications that arrive together.
    std::function<void(ScheduleNews)> news;
    /// Called when notifications may have been missed until now.
    std::function<void()> back;
  };
  /// Topics of a subscription. `jobs`: jobs added to the queues, free fleet slots, commands.
  /// `timeline`: due jobs, commands.
  enum class About { nothing, jobs, timeline };
  ScheduleNewsChannels(RedisSession& session, Handler handler);
  ~ScheduleNewsChannels();
  ScheduleNewsChannels(const ScheduleNewsChannels&) = delete;
  ScheduleNewsChannels& operator=(const ScheduleNewsChannels&) = delete;

  /// Subscribes to a schedule. Must be called again when the config of the list has changed.
  void listen(About about, const ListConfig& rule);
  /// Returns whether every change that other clients make to these keys is notified.
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
  std::string prefix_;  ///< key prefix
  std::vector<std::string> queues_;
  redis::Subscription wake_;
  bool confirmed_ = false;                    ///< wake_ is confirmed
  std::vector<redis::Subscription> changes_;  ///< keyspace notifications
  std::size_t changes_confirmed_ = 0;         ///< since subscribing; a reconnect counts again
  std::vector<ScheduleNews> news_;            ///< not reported yet
  Timer tell_;
};

}  // namespace w8y::store
