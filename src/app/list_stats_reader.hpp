// Reads statistics of lists from Redis, in small batches that do not delay commands of lists.
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
  /// Receives the statistics of a list; nullopt: Redis refuses them.
  using Told =
      std::function<void(const ListConfigPtr& rule, const std::optional<ListStats>& stats)>;
  using Then = std::function<void()>;

  /// `told` is called for each list, in the order of the replies.
  ListStatsReader(loop::Loop& loop, std::shared_ptr<store::RedisSession> session, bool cluster,
                  Told told);

  /// Starts a round. There is one round at a time. `then` is called once, from the loop, at its
  /// end. `time`: clock of Redis.
  void begin(std::vector<ListConfigPtr> lists, std::function<WallTime()> time, Then then);
  [[nodiscard]] bool busy() const { return static_cast<bool>(then_); }

 private:
  void read_next();
  // Each reads the statistics of the first list of `waiting_`. read_circular() also reads the
  // circular lists directly behind it, in the same call.
  void read_circular();
  void read_jobs();
  void read_schedule();
  /// Counts of one list, each from a command of its own.
  struct Counts;
  void count(const std::shared_ptr<Counts>& counts, std::size_t at, const redis::Command& command);
  void count_due(const std::shared_ptr<Counts>& counts, const std::string& until);
  /// Adds a count of one list. After the last one, continues with the statuses of a schedule.
  void add_count(const std::shared_ptr<Counts>& counts, std::size_t at, const redis::Answer& answer,
                 std::uint64_t items);
  void count_statuses(const std::shared_ptr<Counts>& counts);
  void counted(const std::shared_ptr<Counts>& counts);
  void on_reply();
  /// Calls `then` after a pause whose length depends on the last call.
  void after_pause(std::function<void()> then);

  loop::Loop& loop_;
  const std::shared_ptr<store::RedisSession> session_;
  const std::size_t max_lists_;
  const Told done_;
  std::deque<ListConfigPtr> waiting_;
  std::map<std::string, store::StatusCount> statuses_;  ///< of schedules, by prefix
  std::function<WallTime()> time_;
  Then then_;
  Instant sent_at_{};
  Timer next_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
