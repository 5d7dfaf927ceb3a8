// Verbs of feeds of jobs.
#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "operator/feed_jobs.hpp"
#include "operator/job_feeds.hpp"
#include "operator/key_pages.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/schedules.hpp"
#include "operator/stored.hpp"
#include "store/thoonk/job_note.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::verbs {

namespace {

using view::ItemView;

/// Refuses a verb. `text`: continues the sentence "FEED is a feed of jobs".
[[noreturn]] void refuse_feed(const std::string& feed, const std::string& text) {
  throw QueryError(409, escape_text(feed) + " is a feed of jobs; " + text);
}

void list_feed_jobs(QueryContext& query, const std::string& feed, const ItemFilter& filter,
                    const PageRequest& part, ItemsPage& found) {
  enum Phases : std::size_t { claimed, waiting, stalled, nowhere };
  const store::FeedKeys keys(feed);
  found.length = query.redis.call({"HLEN", keys.items}).number;
  redis::SyncClient& client = query.redis;
  walk(found,
       {by_score(client, keys.claimed), from_taking_end(client, keys.ids),
        scanned_set(client, keys.stalled), scanned_hash(client, keys.nowhere)},
       part, [&](std::size_t phase, const Step& step) {
         auto jobs = read_feed_jobs_named(client, feed, step.names);
         for (std::size_t i = 0; i < jobs.size(); ++i) {
           if (!jobs[i]) continue;
           ItemView& job = *jobs[i];
           const bool is_waiting = job.state == "queued", is_stalled = job.state == "stalled";
           const bool is_elsewhere = phase == claimed
                                         ? is_waiting || is_stalled
                                         : (phase == stalled ? !is_stalled : !is_waiting);
           if (phase == nowhere) job.state = "orphaned";
           if (phase == waiting) job.queue_position = std::stoul(step.behind[i][0]);
           if (is_elsewhere || !filter.fits(job)) jobs[i].reset();
         }
         return jobs;
       });
}

std::optional<ItemView> find_in_feed(QueryContext& query, const std::string& feed, const Item& id) {
  return read_feed_job(query.redis, feed, id);
}

/// Quarantines a job of a feed: it is stalled when its run ends.
void stall_job(QueryContext& query, const view::RunView& run, const ChangeNote&) {
  const std::string& feed = run.list;
  const Item& job = run.status.item.beginning;
  if (run.status.item.is_truncated())
    throw QueryError(409,
                     "the ID of the job is too long for this command; cancel its run, and "
                     "stall it with: w8yctl job stall " +
                         shell_argument(feed));
  if (!JobFeed({query.redis, false}, feed)
           .stall_at_end(job, std::string(std::string_view(run.status.run))))
    throw QueryError(409, "the job " + escape_text(job) + " of the feed " + escape_text(feed) +
                              " is not claimed by that run any more");
}

std::vector<ChangedItem> retry_group(QueryContext& query, const std::string& feed,
                                     const std::string& id, const std::vector<Item>& jobs,
                                     GroupChange change, const ChangeNote&) {
  check_feed_tag(query, feed);
  if (change != GroupChange::retry)
    refuse_feed(feed, "to return the stalled jobs of the group to their queue: w8yctl errors " +
                          shell_argument(feed) + " " + shell_argument(id) + " --retry");
  const auto retried =
      JobFeed({query.redis, query.cluster(), query.by}, feed).change(JobChange::retry, jobs);
  std::vector<ChangedItem> changed;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    changed.push_back({DisplayItem(jobs[i]), retried[i].done ? "queued again" : "is not stalled",
                       retried[i].done});
  return changed;
}

constexpr std::size_t max_notes = 10'000;
constexpr const char* notes_at_once = "1000";

WhyItems count_feed_jobs(QueryContext& query, const WhyList& list) {
  redis::SyncClient& client = query.redis;
  const store::FeedKeys keys(list.name);
  const auto told =
      client.pipeline({{"LLEN", keys.ids}, {"ZCARD", keys.claimed}, {"SCARD", keys.stalled}});
  const auto count = [&](std::size_t i) {
    return static_cast<std::size_t>(redis::checked(told[i]).number);
  };
  WhyItems items;
  std::size_t resting = 0;
  std::size_t seen = 0;
  scan(client, "HSCAN", keys.taken, notes_at_once, [&](const redis::ReplyCopy* pair) {
    if (const auto note = store::thoonk::read_job_note(pair[1].text); note && note->held_until)
      ++resting;
    return ++seen < max_notes;
  });
  resting = std::min(resting, count(1));
  items.states = {{"queued", count(0)},
                  {"running", count(1) - resting},
                  {"delayed", resting},
                  {"stalled", count(2)}};
  items.length = items.examined = count(0) + count(1) + count(2);
  return items;
}

/// Makes a queued job the next to be claimed.
RunJobResult run_feed_job(QueryContext& query, const std::string& feed, const Item& id, bool) {
  const std::string name = escape_text(id);
  const store::FeedKeys keys(feed);
  if (query.redis.call({"EXISTS", keys.paused}).number > 0) return {false, paused_text(feed)};
  JobFeed jobs({query.redis, query.cluster(), query.by}, feed);
  if (jobs.change(JobChange::next, {id}).front().done)
    return {true, name + " is the next to be claimed"};
  switch (jobs.find(id)) {
    case JobFeed::Whereabouts::stalled:
      return {false, name + " is stalled; to return it to the queue: w8yctl job retry " +
                         shell_argument(feed) + " " + shell_item(id)};
    case JobFeed::Whereabouts::there:
      return {false, name + " is claimed already; to see its holder: w8yctl why " +
                         shell_argument(feed) + " " + shell_item(id)};
    case JobFeed::Whereabouts::gone:
      break;
  }
  return {false, "the feed " + escape_text(feed) + " has no job " + name +
                     ": it is finished, was retracted, or never existed"};
}

}  // namespace

const KindVerbs feed_verbs{
    .copy_settings =
        [](const ListConfig& rule, KnownList& into) {
          into.maintenance = store::thoonk::maintenance_terms(rule, {});
        },
    .list_items = list_feed_jobs,
    .show_item = find_in_feed,
    .find_item = find_in_feed,
    .count_items = count_feed_jobs,
    .quarantine_run = stall_job,
    .all_items =
        [](QueryContext& query, const std::string& feed, const std::string& state,
           std::size_t most) {
          return read_feed_jobs(query.redis, query.cluster(), feed, state, most);
        },
    .change_group = retry_group,
    .refuse_items =
        [](QueryContext&, const std::string& feed) {
          refuse_feed(feed, "to put and change them: w8yctl job");
        },
    .refuse_rerun =
        [](QueryContext&, const std::string& feed, const std::string& job) {
          refuse_feed(feed, "to run a job again: w8yctl job put --id " + shell_argument(job) +
                                " --rerun " + shell_argument(feed) + " PAYLOAD");
        },
    .run_job = run_feed_job,
    .read_payloads = read_payloads,
};

}  // namespace w8y::verbs
