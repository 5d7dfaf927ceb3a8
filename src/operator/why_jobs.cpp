#include "operator/why_jobs.hpp"

#include <algorithm>

#include "core/number.hpp"
#include "operator/schedule_jobs.hpp"
#include "operator/stored.hpp"
#include "schedule/schedule.hpp"
#include "store/lock_value.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/job_note.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

using redis::ReplyCopy;

constexpr std::size_t max_jobs_counted = 10'000;
constexpr const char* max_notes = "1000";

std::string rule_words(redis::SyncClient& client, const store::ScheduleKeys& keys,
                       const view::ItemView& job, std::int64_t now) {
  const auto length = client.call({"HSTRLEN", keys.schedules, job.item}).number;
  if (length == 0 || length > static_cast<std::int64_t>(schedule::max_schedule)) return {};
  const std::string text = client.call({"HGET", keys.schedules, job.item}).text;
  schedule::Schedule read = schedule::parse_schedule(text, now);
  // The schedule of a job that runs once is STOP from then on.
  if (job.due && std::holds_alternative<schedule::Stop>(read))
    read = schedule::At{job.due->count() / 1000};
  return std::holds_alternative<schedule::Bad>(read) ? "" : schedule::in_words(read, text);
}

}  // namespace

void read_halt(redis::SyncClient& client, const store::ScheduleKeys& keys, WhyList& into) {
  const auto told = client.pipeline({{"GETRANGE", keys.control, "0", "15"},
                                     {"GETRANGE", keys.halted, "0", "255"},
                                     {"EXISTS", keys.schedules, keys.statuses, keys.timeline}});
  if (!told[0].is_error() && told[0].text == store::halt)
    into.halted = told[1].is_error() ? std::string() : told[1].text;
  into.has_keys = into.has_keys || into.halted || told[2].number > 0;
}

std::optional<view::ItemView> read_scheduled_job(redis::SyncClient& client,
                                                 const ScheduleOfList& schedule, const Item& name) {
  auto job = read_job(client, schedule, name);
  if (job && job->state == "scheduled")
    job->words =
        rule_words(client, schedule.keys, *job, client.call({"TIME"}).elements.at(0).number);
  return job;
}

WhyItems count_jobs(redis::SyncClient& client, const ScheduleOfList& schedule,
                    const std::vector<std::string>& queues, WallTime now) {
  const view::ItemList found = read_jobs(client, schedule, queues, {}, max_jobs_counted);
  WhyItems items;
  for (const auto& [state, count] : found.states) {
    items.states[state] = count;
    items.examined += count;
  }
  items.length = found.whole ? items.examined : std::max(found.length, items.examined);
  std::map<std::string, std::size_t> queued;
  for (const view::ItemView& job : found.items) {
    if (job.state == "queued") ++queued[job.queue];
    if (job.state != "scheduled" || !job.due) continue;
    if (*job.due <= now) ++items.late;
    if (*job.due > now && (!items.next_due || *job.due < *items.next_due)) items.next_due = job.due;
  }
  items.queues.assign(queued.begin(), queued.end());
  return items;
}

WhyItems count_feed_jobs(redis::SyncClient& client, const std::string& feed) {
  const store::FeedKeys keys(feed);
  const auto told =
      client.pipeline({{"LLEN", keys.ids}, {"ZCARD", keys.claimed}, {"SCARD", keys.stalled}});
  const auto count = [&](std::size_t i) {
    return static_cast<std::size_t>(redis::checked(told[i]).number);
  };
  WhyItems items;
  std::size_t resting = 0;
  std::string cursor = "0";
  for (std::size_t seen = 0; seen < max_jobs_counted;) {
    const ReplyCopy page = client.call({"HSCAN", keys.taken, cursor, "COUNT", max_notes});
    cursor = page.elements.at(0).text;
    const auto& pairs = page.elements.at(1).elements;
    for (std::size_t i = 1; i < pairs.size(); i += 2, ++seen)
      if (const auto note = store::thoonk::read_job_note(pairs[i].text); note && note->held_until)
        ++resting;
    if (cursor == "0") break;
  }
  resting = std::min(resting, count(1));
  items.states = {{"queued", count(0)},
                  {"running", count(1) - resting},
                  {"delayed", resting},
                  {"stalled", count(2)}};
  items.length = items.examined = count(0) + count(1) + count(2);
  return items;
}

}  // namespace w8y::verbs
