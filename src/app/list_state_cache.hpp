// What only Redis knows of this host's lists: how many items are quarantined, whether a list is
// paused, also while something runs. Asked when somebody looks, never by itself.
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
#include "core/status.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "loop/loop.hpp"
#include "store/redis_session.hpp"

namespace w8y::app {

class ListStateCache final : public ListStateSource {
 public:
  using Then = std::function<void()>;

  /// `stats`: what is asked all the time.
  ListStateCache(loop::Loop& loop, const ListStatsCache& stats)
      : loop_(loop), stats_(stats), timeout_(loop.timers()), begin_(loop.timers()) {}

  /// Asks about all lists of `supervisor`, which outlives the survey, and then calls `then`; also
  /// if Redis does not answer in time. Answers are newer than this call, unless they took too long.
  /// Many who ask at once share the answers. `then` is dropped with the survey.
  void refresh(const std::shared_ptr<store::RedisSession>& redis, const Supervisor& supervisor,
               Then then);
  void add_to(ListStatus& status) const override;
  [[nodiscard]] WallTime now() const override { return loop_.clock().wall(); }

 private:
  /// The answers that are coming in. One batch at a time: work goes before.
  struct Round {
    std::shared_ptr<store::RedisSession> redis;
    std::vector<std::pair<std::string, std::string>> lists;  ///< prefix, what its keys start with
    Instant started{};
    std::size_t next = 0;
    std::size_t missing = 0;  ///< answers of the batch that is out
    bool failed = false;
  };
  struct Found {
    std::optional<std::uint64_t> quarantined;
    std::optional<Pause> pause;
  };
  using Look = std::function<void(const redis::Answer&)>;

  void begin();
  void request_batch(const std::shared_ptr<Round>& round);
  void request(const std::shared_ptr<Round>& round, const std::string& prefix,
               const std::string& key_prefix);
  void request_reason(const std::string& prefix, const std::string& paused);
  void call(const std::shared_ptr<Round>& round, const redis::Command& command, Look look);
  void end_round(bool whole);
  void notify(std::vector<Then> all);

  loop::Loop& loop_;
  const ListStatsCache& stats_;
  Timer timeout_;
  Timer begin_;
  Instant next_at_{};  ///< no round begins before
  std::shared_ptr<store::RedisSession> redis_;
  const Supervisor* supervisor_ = nullptr;
  std::shared_ptr<Round> round_;
  std::vector<Then> waiting_;  ///< for the round that is going on
  std::vector<Then> later_;    ///< for the next one
  bool whole_ = false;         ///< all lists were asked about
  /// By prefix. Those with nothing to tell are left out: most of ten thousand.
  std::map<std::string, Found> found_;
};

}  // namespace w8y::app
