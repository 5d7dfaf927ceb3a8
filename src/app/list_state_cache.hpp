// Caches list state that only Redis holds: the number of quarantined items and the pause. Refreshed
// on request, never periodically.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/host_status.hpp"
#include "app/list_stats_cache.hpp"
#include "core/runs_per_minute.hpp"
#include "core/status.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "store/redis_session.hpp"

namespace w8y::app {

class ListStateCache final : public ListStateSource {
 public:
  using Then = std::function<void()>;

  /// `stats`: statistics that are collected periodically. `hour`: runs of the last hour.
  ListStateCache(loop::Loop& loop, const ListStatsCache& stats, const RunsPerMinute& hour)
      : loop_(loop), stats_(stats), hour_(hour), timeout_(loop.timers()), begin_(loop.timers()) {}

  /// Queries all lists of `supervisor`, which must outlive the cache, and then calls `then`, even
  /// if Redis does not reply in time. Replies are newer than this call, unless they are late.
  /// Concurrent requests share the replies. `then` is dropped with the cache.
  void refresh(const std::shared_ptr<store::RedisSession>& redis, const Supervisor& supervisor,
               Then then);
  void add_to(ListStatus& status) const override;
  [[nodiscard]] WallTime now() const override { return loop_.clock().wall(); }

 private:
  /// Replies that are being received. There is one batch at a time, so that commands of lists are
  /// not delayed.
  struct Round {
    struct List {
      std::string prefix;
      std::string key_prefix;  ///< start of the names of its keys
      std::string key_suffix;  ///< end of the names of its keys
      bool has_breaker = false;
    };
    std::shared_ptr<store::RedisSession> redis;
    std::vector<List> lists;
    Instant started{};
    std::size_t next = 0;
    std::size_t missing = 0;  ///< replies of the batch that are not received yet
    bool failed = false;
  };
  struct Found {
    std::optional<std::uint64_t> quarantined;
    std::optional<Pause> pause;
    std::optional<OpenBreaker> breaker;
  };
  using OnReply = std::function<void(const redis::Answer&)>;

  void begin();
  void request_batch(const std::shared_ptr<Round>& round);
  void request(const std::shared_ptr<Round>& round, const Round::List& list);
  void request_breaker(const std::shared_ptr<Round>& round, const Round::List& list);
  void request_reason(const std::string& prefix, const std::string& paused);
  void call(const std::shared_ptr<Round>& round, const redis::Command& command, OnReply on_reply);
  void end_round(bool whole);
  void notify(std::vector<Then> all);

  loop::Loop& loop_;
  const ListStatsCache& stats_;
  const RunsPerMinute& hour_;
  Timer timeout_;
  Timer begin_;
  Instant next_at_{};  ///< earliest start of the next round
  std::shared_ptr<store::RedisSession> redis_;
  const Supervisor* supervisor_ = nullptr;
  std::shared_ptr<Round> round_;
  std::vector<Then> waiting_;  ///< for the current round
  std::vector<Then> later_;    ///< for the next round
  bool whole_ = false;         ///< whether all lists were queried
  /// By prefix. Lists without a pause or quarantined items are omitted, which are most of 10,000.
  std::map<std::string, Found> found_;
};

}  // namespace w8y::app
