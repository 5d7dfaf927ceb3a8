#include "store/schedule/timeline_review.hpp"

#include <algorithm>
#include <utility>

#include "core/number.hpp"
#include "redis/reply.hpp"
#include "store/scripts.hpp"

namespace w8y::store {

namespace {

/// Jobs of a page: to read their schedules takes the loop some milliseconds.
constexpr std::size_t page_jobs = 64;

}  // namespace

struct TimelineReview::Page {
  ScheduleKeys keys;
  Duration longest_backoff;
  unsigned round;
  std::size_t first;
  Instant sent;
  UnixSeconds now = 0;
  std::vector<Entry> entries = {};
  bool is_last = false;
  std::size_t moved = 0;
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

void TimelineReview::on_clock_jump(Duration by) {
  if (by >= Duration{0} || rule_ == nullptr) return;
  ++round_;
  step(0);
}

/// The key of the timeline goes before: in a cluster, TIME is asked where it is.
void TimelineReview::step(std::size_t first) {
  const Duration backoff = rule_->backoff ? rule_->backoff->max : Duration{0};
  const auto page = std::make_shared<Page>(
      Page{ScheduleKeys(rule_->prefix), backoff, round_, first, session_.clock.now()});
  const std::string from = std::to_string(first), to = std::to_string(first + page_jobs - 1);
  session_.client.call({"TIME"}, [alive = alive_, page](const redis::Answer& answer) {
    if (*alive && answer.ok() && answer.reply.size() == 2)
      page->now = redis::server_time(answer.reply).count() / 1000;
  });
  session_.client.call({"ZRANGE", page->keys.timeline, from, to, "REV", "WITHSCORES"},
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

void TimelineReview::decide(const std::shared_ptr<Page>& page, const redis::Answer& schedules) {
  const auto backoff =
      std::chrono::duration_cast<std::chrono::seconds>(page->longest_backoff).count();
  std::vector<std::string> words;  // job, schedule, time, new time, …
  for (std::size_t i = 0; i < page->entries.size() && i < schedules.reply.size(); ++i) {
    const Entry& entry = page->entries[i];
    if (!schedules.reply[i].is_string()) continue;
    if (entry.due <= static_cast<double>(page->now + backoff)) continue;
    std::string schedule(schedules.reply[i].text());
    const auto next = decide_(schedule, page->now, std::nullopt);
    const auto* at = std::get_if<RunAt>(&next.step);
    if (at == nullptr || static_cast<double>(at->time) >= entry.due) continue;
    words.insert(words.end(),
                 {entry.job, std::move(schedule), entry.time, std::to_string(at->time)});
  }
  if (words.empty()) return end(*page);
  redis::Command args{page->keys.wake};
  args.insert(args.end(), words.begin(), words.end());
  session_.client.run(scripts::schedule_earlier, {page->keys.schedules, page->keys.timeline}, args,
                      [this, alive = alive_, page](const redis::Answer& answer) {
                        if (!*alive || page->round != round_ || !answer.ok()) return;
                        page->moved = static_cast<std::size_t>(answer.reply.integer());
                        end(*page);
                      });
}

/// Jobs that were moved are no longer among those before the next page.
void TimelineReview::end(const Page& page) {
  if (page.is_last || rule_ == nullptr) return;
  const Instant now = session_.clock.now();
  timer_.set(now + (now - page.sent),
             [this, first = page.first + page_jobs - page.moved] { step(first); });
}

}  // namespace w8y::store
