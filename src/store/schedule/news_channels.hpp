// Notifications of a schedule: messages by hosts and w8yctl, and reports of Redis about changes
// that any other client makes to its queues or timeline.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/timers.hpp"
#include "redis/subscriber.hpp"
#include "store/queue_keys.hpp"
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
  /// Peeks at the queues, if this makes Redis report the next addition. Must be called after a
  /// claim that found them empty. Returns the cost in commands.
  [[nodiscard]] double track_queues();
  /// Must be called when this client may have changed the queues.
  void untrack_queues() { queue_keys_.untrack(); }
  /// Peeks at the timeline, if this makes Redis report the next change. `due`: time of the earliest
  /// job that the last dispatch left on the timeline, in seconds since 1970; infinite if it left
  /// none. Must be called after each dispatch. Returns the cost in commands.
  [[nodiscard]] double track_timeline(double due);
  /// Must be called when this client may have changed the timeline.
  void untrack_timeline() { timeline_.untrack(); }
  /// Returns whether every addition that other clients make to the queues is reported.
  [[nodiscard]] bool hears_queues() const {
    return queue_keys_.tracked() && session_.subscriber.connected();
  }

 private:
  struct Timeline final : Tracking::Key {
    explicit Timeline(ScheduleNewsChannels& to) : news(to) {}
    using Tracking::Key::untrack;
    void on_key_changed() override { news.add(ScheduleNews::changed); }
    ScheduleNewsChannels& news;
  };
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
  QueueKeys queue_keys_;
  Timeline timeline_;
  std::vector<ScheduleNews> news_;  ///< not reported yet
  Timer tell_;
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store
