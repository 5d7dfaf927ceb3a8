#include "app/look/why_jobs.hpp"

#include <algorithm>
#include <utility>

#include "app/look/job_states.hpp"
#include "app/look/stored.hpp"
#include "core/job_code.hpp"
#include "core/number.hpp"
#include "schedule/schedule.hpp"
#include "store/lock_value.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/job_note.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::app::look {

namespace {

using redis::ReplyCopy;

constexpr std::size_t most_jobs_counted = 10'000;
constexpr const char* notes_of_page = "1000";

const ReplyCopy& whole(const ReplyCopy& reply) {
  if (reply.is_error()) throw redis::RedisError(reply.text, redis::ErrorCode::other);
  return reply;
}

std::string rule_words(redis::SyncClient& client, const store::ScheduleKeys& keys,
                       const JobState& job, std::int64_t now) {
  const auto length = client.call({"HSTRLEN", keys.schedules, job.job}).number;
  if (length == 0 || length > static_cast<std::int64_t>(schedule::longest_schedule)) return {};
  const std::string text = client.call({"HGET", keys.schedules, job.job}).text;
  schedule::Schedule read = schedule::parse_schedule(text, now);
  // What was set to run once is stopped from then on.
  if (job.due && std::holds_alternative<schedule::Stop>(read)) read = schedule::At{*job.due};
  return std::holds_alternative<schedule::Bad>(read) ? "" : schedule::in_words(read, text);
}

}  // namespace

std::optional<std::string> field_in(const ReplyCopy& reply) {
  if (reply.is_error() || reply.elements.empty() || reply.elements[0].is_nil()) return std::nullopt;
  return reply.elements[0].text;
}

void read_halt(redis::SyncClient& client, const std::string& list, WhyList& into) {
  const store::ScheduleKeys keys(list);
  const auto told = client.pipeline({{"GETRANGE", keys.control, "0", "15"},
                                     {"GETRANGE", keys.halted, "0", "255"},
                                     {"EXISTS", keys.schedules, keys.statuses, keys.timeline}});
  if (!told[0].is_error() && told[0].text == store::halt)
    into.halted = told[1].is_error() ? std::string() : told[1].text;
  into.has_keys = into.has_keys || into.halted || told[2].number > 0;
}

WhyItem read_why_job(redis::SyncClient& client, const WhyQuestion& question) {
  const store::ScheduleKeys keys(question.list);
  WhyItem item;
  item.item = ShownItem(*question.item);
  const auto found = read_job(client, keys, *question.item);
  if (!found) return item;
  const JobState& job = *found;
  item.state = job.state;
  item.host = job.host;
  item.pid = job.pid;
  item.run = job.run;
  item.lock = job.host.empty() ? job.tag : "";
  item.since = job.since;
  if (job.left) item.left = *job.left;
  item.why = job.why;
  item.failures = job.failures;
  item.queue = job.queue;
  item.place = job.place;
  if (job.due) item.due = WallTime(*job.due * 1000);
  if (item.state == "waiting")
    item.rule = rule_words(client, keys, job, client.call({"TIME"}).elements.at(0).number);
  return item;
}

WhyItems count_jobs(redis::SyncClient& client, const WhyQuestion& question, WallTime now) {
  const store::ScheduleKeys keys(question.list);
  const Jobs found = read_jobs(client, keys, question.queues, {}, most_jobs_counted);
  WhyItems items;
  for (const auto& [state, count] : found.states) {
    items.states[state] = count;
    items.looked_at += count;
  }
  items.length = found.whole ? items.looked_at : std::max(found.known, items.looked_at);
  std::map<std::string, std::size_t> queued;
  for (const JobState& job : found.jobs) {
    const std::string state = job.state;
    if (state == "queued") ++queued[job.queue];
    if (state != "waiting" || !job.due) continue;
    const WallTime due(*job.due * 1000);
    if (due <= now) ++items.late;
    if (due > now && (!items.next_due || due < *items.next_due)) items.next_due = due;
  }
  items.queues.assign(queued.begin(), queued.end());
  return items;
}

// ---- jobs of feeds

WhyItem read_why_feed_job(redis::SyncClient& client, const WhyQuestion& question) {
  const store::FeedKeys keys(question.list);
  const std::string& id = *question.item;
  const std::string lease = keys.lease(id);
  const auto told = client.pipeline({{"ZSCORE", keys.claimed, id},
                                     {"HMGET", keys.taken, id},
                                     {"PTTL", lease},
                                     {"LPOS", keys.ids, id, "RANK", "-1"},
                                     {"LLEN", keys.ids},
                                     {"SISMEMBER", keys.stalled, id},
                                     {"HEXISTS", keys.items, id},
                                     {"HMGET", keys.cancelled, id}});
  WhyItem item;
  item.item = ShownItem(id);
  item.max_failures = question.max_failures;
  item.failures = stored_number(field_in(told[7]).value_or(""));
  if (const ReplyCopy& score = whole(told[0]); !score.is_nil()) {
    item.state = "claimed";
    item.since = read_score_time(score.text);
    item.left = read_ms(told[2].number);
    const auto note = store::thoonk::read_job_note(field_in(told[1]).value_or(""));
    if (!note || std::to_string(note->score) != score.text) return item;
    item.state = note->held_until ? "resting" : "running";
    if (note->held_until) item.until = WallTime(*note->held_until);
    item.parked_after = note->stalls;
    const store::LockValue value = store::read_lock_value(note->run);
    if (const auto* running = std::get_if<store::RunningLock>(&value)) {
      item.host = running->host;
      item.pid = running->pid;
      item.run = running->run;
    }
  } else if (!whole(told[3]).is_nil()) {
    item.state = "waiting";
    item.place =
        static_cast<std::size_t>(std::max<std::int64_t>(1, told[4].number - told[3].number));
  } else if (whole(told[5]).number == 1) {
    item.state = "stalled";
  } else if (whole(told[6]).number == 1) {
    item.state = "nowhere";
  }
  return item;
}

WhyItems count_feed_jobs(redis::SyncClient& client, const std::string& feed) {
  const store::FeedKeys keys(feed);
  const auto told =
      client.pipeline({{"LLEN", keys.ids}, {"ZCARD", keys.claimed}, {"SCARD", keys.stalled}});
  const auto count = [&](std::size_t i) { return static_cast<std::size_t>(whole(told[i]).number); };
  WhyItems items;
  std::size_t resting = 0;
  std::string cursor = "0";
  for (std::size_t seen = 0; seen < most_jobs_counted;) {
    const ReplyCopy page = client.call({"HSCAN", keys.taken, cursor, "COUNT", notes_of_page});
    cursor = page.elements.at(0).text;
    const auto& pairs = page.elements.at(1).elements;
    for (std::size_t i = 1; i < pairs.size(); i += 2, ++seen)
      if (const auto note = store::thoonk::read_job_note(pairs[i].text); note && note->held_until)
        ++resting;
    if (cursor == "0") break;
  }
  resting = std::min(resting, count(1));
  items.states = {{"waiting", count(0)},
                  {"running", count(1) - resting},
                  {"resting", resting},
                  {"stalled", count(2)}};
  items.length = items.looked_at = count(0) + count(1) + count(2);
  return items;
}

}  // namespace w8y::app::look
