// Asks Redis how lists stand, a few at a time, so that work goes before.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/list_config.hpp"
#include "core/status.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "store/redis_session.hpp"
#include "store/schedule/status_count.hpp"

namespace w8y::app {

class ListStatsReader {
 public:
  /// What is known of a list; nullopt: Redis does not say.
  using Told =
      std::function<void(const ListConfigPtr& rule, const std::optional<ListStats>& stats)>;
  using Then = std::function<void()>;

  /// `on_measured` for each list, as they are answered.
  ListStatsReader(loop::Loop& loop, std::shared_ptr<store::RedisSession> session, bool cluster,
                  Told told);

  /// One round at a time: `then`, once and from the loop, when it is over. `time`: Redis's.
  void begin(std::vector<ListConfigPtr> lists, std::function<WallTime()> time, Then then);
  [[nodiscard]] bool busy() const { return static_cast<bool>(then_); }

 private:
  void read_next();
  void read_circular();
  void read_jobs(const ListConfigPtr& rule);
  void read_schedule(const ListConfigPtr& rule);
  /// Counts of one list that come by a command each.
  struct Counts;
  void count(const std::shared_ptr<Counts>& counts, std::size_t at, const redis::Command& command);
  void count_statuses(const std::shared_ptr<Counts>& counts);
  void counted(const std::shared_ptr<Counts>& counts);
  void on_reply();
  /// As long a pause as the last call was.
  void after_pause(std::function<void()> then);

  loop::Loop& loop_;
  const std::shared_ptr<store::RedisSession> session_;
  const std::size_t max_lists_;
  const Told told_;
  std::deque<ListConfigPtr> waiting_;
  std::map<std::string, store::StatusCount> statuses_;  ///< of schedules, by prefix
  std::function<WallTime()> time_;
  Then then_;
  Instant sent_at_{};
  Timer next_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
