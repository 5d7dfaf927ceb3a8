#include "store/schedule/timeline_review.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "core/schedule_settings.hpp"
#include "redis/reply.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Jobs per page, few enough that evaluating their schedules does not block the loop for long.
constexpr std::size_t page_jobs = 64;
constexpr Duration least_jump = std::chrono::minutes(1);

}  // namespace

struct TimelineReview::Page {
  ScheduleKeys keys;
  Duration longest_backoff;
  unsigned round;
  std::string from;     ///< latest time of the page
  std::size_t skipped;  ///< jobs with this time on earlier pages
  Instant sent;
  UnixSeconds now = 0;
  std::vector<Entry> entries = {};
  std::size_t moved_last = 0;  ///< moved jobs with the earliest time of the page
  bool is_last = false;
};

TimelineReview::TimelineReview(RedisSession& session, DecideNextStep decide)
    : ServerClock::Listener(session.server_clock),
      session_(session),
      decide_(std::move(decide)),
      timer_(session.timers),
      alive_(std::make_shared<bool>(true)) {}

TimelineReview::~TimelineReview() {
  *alive_ = false;
}

void TimelineReview::on_clock_jump(const ServerClock::Jump& jump) {
  // After a smaller jump, jobs of the last seconds would run again.
  if (-jump.by <= least_jump || rule_ == nullptr) return;
  timer_.cancel();
  jump_ = jump;
  ++round_;
  step("+inf", 0);
}

/// Reads the time and then one page of the timeline. Never called in a cluster, whose clocks are
/// not watched.
void TimelineReview::step(const std::string& from, std::size_t skipped) {
  const Duration backoff = rule_->backoff ? rule_->backoff->max : Duration{0};
  const auto page = std::make_shared<Page>(
      Page{ScheduleKeys(*rule_), backoff, round_, from, skipped, session_.clock.now()});
  const std::string offset = std::to_string(skipped), count = std::to_string(page_jobs);
  session_.client.call({"TIME"}, [alive = alive_, page](const redis::Answer& answer) {
    if (*alive && answer.ok() && answer.reply.size() == 2)
      page->now = redis::server_time(answer.reply).count() / 1000;
  });
  session_.client.call({"ZRANGE", page->keys.timeline, from, "-inf", "BYSCORE", "REV", "LIMIT",
                        offset, count, "WITHSCORES"},
                       [this, alive = alive_, page](const redis::Answer& answer) {
                         if (*alive && page->round == round_ && answer.ok() && page->now > 0)
                           read(page, answer);
                       });
}

void TimelineReview::read(const std::shared_ptr<Page>& page, const redis::Answer& timeline) {
  const redis::Reply& reply = timeline.reply;
  page->is_last = reply.size() < 2 * page_jobs;
  redis::Command schedules{"HMGET", page->keys.schedules};
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    const double due = read_real(reply[i + 1].text()).value_or(0);
    page->is_last = page->is_last || due <= static_cast<double>(page->now);
    if (due <= static_cast<double>(page->now)) break;
    page->entries.push_back({std::string(reply[i].text()), std::string(reply[i + 1].text()), due});
  }
  if (page->entries.empty()) return;
  for (const Entry& entry : page->entries) schedules.emplace_back(entry.job);
  session_.client.call(schedules, [this, alive = alive_, page](const redis::Answer& answer) {
    if (*alive && page->round == round_ && answer.ok()) decide(page, answer);
  });
}

std::optional<UnixSeconds> TimelineReview::next_time(const std::string& schedule,
                                                     UnixSeconds now) const {
  const ScheduleDecision decision = decide_(schedule, now, std::nullopt);
  const auto* at = std::get_if<RunAt>(&decision.step);
  return at == nullptr ? std::nullopt : std::optional(at->time);
}

void TimelineReview::decide(const std::shared_ptr<Page>& page, const redis::Answer& schedules) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  const auto jump = duration_cast<seconds>(-jump_.by).count();
  const Duration since = session_.clock.now() - jump_.before + ServerClock::tolerance;
  // While the clock was ahead, no job got an earlier time than this.
  const auto earliest = page->now + std::max(duration_cast<seconds>(page->longest_backoff).count(),
                                             jump - duration_cast<seconds>(since).count() - 1);
  std::vector<std::string> words;  // job, schedule, time, new time, …
  for (std::size_t i = 0; i < page->entries.size() && i < schedules.reply.size(); ++i) {
    const Entry& entry = page->entries[i];
    if (!schedules.reply[i].is_string()) continue;
    if (entry.due <= static_cast<double>(earliest)) continue;
    // The list of this job reviews it, since the backoff of that list may be longer.
    if (rule_->schedule().shared.has_job(entry.job)) continue;
    std::string schedule(schedules.reply[i].text());
    const auto next = next_time(schedule, page->now);
    if (!next || static_cast<double>(*next) >= entry.due) continue;
    // Only an executor can have set a later time than the schedule gave while the clock was ahead.
    const auto ahead = next_time(schedule, page->now + jump + 1);
    if (!ahead || entry.due > static_cast<double>(*ahead)) continue;
    if (entry.time == page->entries.back().time) ++page->moved_last;
    words.insert(words.end(), {entry.job, std::move(schedule), entry.time, std::to_string(*next)});
  }
  if (words.empty()) return end(*page);
  redis::Command args{page->keys.wake};
  args.insert(args.end(), words.begin(), words.end());
  session_.client.run(scripts::schedule_earlier,
                      {page->keys.schedules, page->keys.timeline, page->keys.jitter}, args,
                      [this, alive = alive_, page](const redis::Answer& answer) {
                        if (*alive && page->round == round_ && answer.ok()) end(*page);
                      });
}

/// Continues with the next page, which starts at the earliest time of this page, after its jobs
/// that were not moved.
void TimelineReview::end(const Page& page) {
  if (page.is_last || rule_ == nullptr) return;
  const std::string& from = page.entries.back().time;
  std::size_t skipped = from == page.from ? page.skipped : 0;
  for (const Entry& entry : page.entries) skipped += entry.time == from;
  skipped -= std::min(skipped, page.moved_last);
  const Instant now = session_.clock.now();
  timer_.set(now + (now - page.sent), [this, from, skipped] { step(from, skipped); });
}

}  // namespace w8y::store
