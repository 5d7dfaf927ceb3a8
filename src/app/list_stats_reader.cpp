#include "app/list_stats_reader.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/schedule_settings.hpp"
#include "store/circular/script_locks.hpp"
#include "store/schedule/keys.hpp"
#include "store/scripts.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::app {

namespace {

/// Number of circular lists per call; in a cluster, each list has its own call.
constexpr std::size_t lists_at_once = 32;
/// The pause between two calls is `measure_pauses` times the duration of the last call, within
/// these limits.
constexpr int measure_pauses = 20;
constexpr Duration min_measure_pause = std::chrono::milliseconds(2);
constexpr Duration max_measure_pause = std::chrono::seconds(1);
/// Number of jobs of a schedule whose status is read in one round, which takes about 50 ms of
/// Redis's time. The next round continues at the next job.
constexpr std::size_t jobs_per_round = 50'000;
/// Maximum duration of a round, so that a slow Redis does not delay the other lists.
constexpr Duration statuses_time = std::chrono::seconds(3);

/// Maximum number of due jobs whose queues are examined, which needs about 1 ms of Redis.
constexpr const char* max_due_examined = "1000";

std::uint64_t number_of(const redis::Reply& reply) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, reply.integer()));
}

ListStats stats_of(const store::ListCounts& measured, WallTime now) {
  ListStats stats;
  stats.items = {{"length", measured.length},
                 {"free", measured.free},
                 {"running", measured.running},
                 {"delayed", measured.resting},
                 {"quarantined", measured.quarantined}};
  stats.estimated = measured.estimated;
  stats.cycle = measured.lap;
  stats.longest_wait = measured.oldest;
  stats.at = now;
  return stats;
}

}  // namespace

struct ListStatsReader::Counts {
  ListConfigPtr rule;
  ListStats stats;
  std::size_t missing = 0;
  std::size_t examined = 0;  ///< jobs of a schedule, since `began`
  Instant began{};
  bool has_statuses = false;  ///< for a schedule: the statuses of its jobs are counted next
  bool refused = false;
};

ListStatsReader::ListStatsReader(loop::Loop& loop, std::shared_ptr<store::RedisSession> session,
                                 bool cluster, Told told)
    : loop_(loop),
      session_(std::move(session)),
      max_lists_(cluster ? 1 : lists_at_once),
      done_(std::move(told)),
      next_(loop.timers()) {}

void ListStatsReader::begin(std::vector<ListConfigPtr> lists, std::function<WallTime()> time,
                            Then then) {
  waiting_.assign(lists.begin(), lists.end());
  time_ = std::move(time);
  then_ = std::move(then);
  next_.set(loop_.now(), [this] { read_next(); });
}

void ListStatsReader::read_next() {
  sent_at_ = loop_.now();
  std::erase_if(waiting_, [](const ListConfigPtr& rule) { return !rule->traits().in_redis; });
  if (waiting_.empty() || !session_->client.connected()) {
    waiting_.clear();
    return std::exchange(then_, {})();
  }
  // In the order of SourceKind.
  constexpr void (ListStatsReader::*readers[])() = {&ListStatsReader::read_circular,
                                                    &ListStatsReader::read_schedule,
                                                    &ListStatsReader::read_jobs, nullptr};
  static_assert(std::size(readers) == source_kind_count);
  (this->*readers[waiting_.front()->traits().index()])();
}

void ListStatsReader::on_reply() {
  after_pause([this] { read_next(); });
}

void ListStatsReader::after_pause(std::function<void()> then) {
  const Duration pause =
      std::clamp(measure_pauses * (loop_.now() - sent_at_), min_measure_pause, max_measure_pause);
  next_.set(loop_.now() + pause, std::move(then));
}

void ListStatsReader::read_circular() {
  store::ListStatsCall call;
  std::vector<ListConfigPtr> asked;
  for (const ListConfigPtr& rule : waiting_) {
    if (asked.size() == max_lists_ || rule->kind() != waiting_.front()->kind()) break;
    call.lists.emplace_back(*rule);
    asked.push_back(rule);
  }
  session_->circular.locks.measure(call, [this, alive = std::weak_ptr<bool>(alive_), asked](
                                             const store::ListStatsResult* result,
                                             const store::StoreError&) {
    if (alive.expired()) return;
    // A list that Redis refuses does not delay other lists.
    const std::size_t done = result == nullptr ? 1 : std::max<std::size_t>(1, result->lists.size());
    for (std::size_t i = 0; i < std::min(done, asked.size()); ++i) {
      const bool known = result != nullptr && i < result->lists.size();
      waiting_.pop_front();
      done_(asked[i],
            known ? std::optional(stats_of(result->lists[i], result->now)) : std::nullopt);
    }
    on_reply();
  });
}

void ListStatsReader::read_jobs() {
  const ListConfigPtr rule = waiting_.front();
  waiting_.pop_front();
  const store::FeedKeys keys(rule->prefix);
  const auto counts = std::make_shared<Counts>();
  counts->rule = rule;
  counts->stats.items = {{"queued", 0}, {"claimed", 0}, {"stalled", 0}};
  count(counts, 0, {"LLEN", keys.ids});
  count(counts, 1, {"ZCARD", keys.claimed});
  count(counts, 2, {"SCARD", keys.stalled});
}

/// Counts each queue once, because a code may be in `queues` more than once.
void ListStatsReader::read_schedule() {
  const ListConfigPtr rule = waiting_.front();
  waiting_.pop_front();
  const store::ScheduleKeys keys(*rule);
  const auto counts = std::make_shared<Counts>();
  counts->rule = rule;
  counts->stats.items = {{"queued", 0}, {"due", 0}};
  counts->has_statuses = true;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(time_()).count();
  const std::string until = std::to_string(now);
  if (rule->schedule().shared.others.empty()) {
    count(counts, 1, {"ZCOUNT", keys.timeline, "-inf", until});
  } else {
    count_due(counts, until);
  }
  const auto& queues = rule->schedule().queues;
  for (const std::string& code : std::set<std::string>(queues.begin(), queues.end())) {
    const std::string queue = keys.queue(code);
    count(counts, 0, {"LLEN", queue});
  }
}

void ListStatsReader::count(const std::shared_ptr<Counts>& counts, std::size_t at,
                            const redis::Command& command) {
  ++counts->missing;
  session_->client.call(command, [this, alive = std::weak_ptr<bool>(alive_), counts,
                                  at](const redis::Answer& answer) {
    if (alive.expired()) return;
    add_count(counts, at, answer, number_of(answer.reply));
  });
}

/// Counts due jobs of a schedule whose timeline has jobs of other lists. The list that dispatches
/// also counts jobs in queues of no list. With many due jobs, the number is an estimate.
void ListStatsReader::count_due(const std::shared_ptr<Counts>& counts, const std::string& until) {
  const ScheduleSettings& schedule = counts->rule->schedule();
  redis::Command arguments{until, max_due_examined};
  if (schedule.dispatches()) {
    arguments.emplace_back("without");
    for (const SharedKeyPrefix::Queue& queue : schedule.shared.others)
      arguments.emplace_back(queue.code);
  } else {
    arguments.emplace_back("only");
    for (const std::string& code : schedule.queues) arguments.emplace_back(code);
  }
  ++counts->missing;
  const store::ScheduleKeys keys(*counts->rule);
  session_->client.run(
      store::scripts::schedule_due, {keys.timeline}, arguments,
      [this, alive = std::weak_ptr<bool>(alive_), counts](const redis::Answer& answer) {
        if (alive.expired()) return;
        std::uint64_t items = 0;
        if (answer.ok() && answer.reply.size() == 3) {
          const std::uint64_t all = number_of(answer.reply[0]);
          const std::uint64_t examined = number_of(answer.reply[1]);
          items = number_of(answer.reply[2]);
          counts->stats.estimated = examined < all;
          if (examined > 0 && examined < all) items = items * all / examined;
        }
        add_count(counts, 1, answer, items);
      });
}

void ListStatsReader::add_count(const std::shared_ptr<Counts>& counts, std::size_t at,
                                const redis::Answer& answer, std::uint64_t items) {
  counts->refused = counts->refused || !answer.ok();
  counts->stats.items[at].items += items;
  if (--counts->missing > 0) return;
  if (counts->has_statuses && !counts->refused) {
    counts->began = loop_.now();
    return count_statuses(counts);
  }
  counted(counts);
}

/// Counts a part of the jobs, and the next part after a pause.
void ListStatsReader::count_statuses(const std::shared_ptr<Counts>& counts) {
  sent_at_ = loop_.now();
  store::StatusCount& statuses = statuses_[counts->rule->prefix];
  const store::ScheduleKeys keys(*counts->rule);
  redis::Command arguments{statuses.cursor(), store::StatusCount::jobs_per_call};
  for (const SharedKeyPrefix::Queue& queue : counts->rule->schedule().shared.others)
    arguments.emplace_back(queue.code);
  session_->client.run(
      store::scripts::schedule_count, {keys.statuses}, arguments,
      [this, alive = std::weak_ptr<bool>(alive_), counts, &statuses](const redis::Answer& answer) {
        if (alive.expired()) return;
        if (!answer.ok()) return counted(counts);  // without these counts
        counts->examined += statuses.add(answer.reply);
        if (!statuses.is_between_scans() && counts->examined < jobs_per_round &&
            loop_.now() < counts->began + statuses_time)
          return after_pause([this, counts] { count_statuses(counts); });
        const store::StatusCounts found = statuses.counts();
        counts->stats.items.push_back({"bad", found.bad});
        counts->stats.items.push_back({"died", found.died});
        counts->stats.estimated = counts->stats.estimated || !statuses.is_known();
        counted(counts);
      });
}

void ListStatsReader::counted(const std::shared_ptr<Counts>& counts) {
  counts->stats.at = time_();
  done_(counts->rule, counts->refused ? std::nullopt : std::optional(counts->stats));
  on_reply();
}

}  // namespace w8y::app
