#include "operator/schedules.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "operator/cursor.hpp"
#include "operator/key_names.hpp"
#include "operator/key_pages.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/stored.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/keys.hpp"
#include "view/kinds.hpp"

namespace w8y::verbs {

namespace {

using view::ItemView;

/// Next jobs of a schedule, and next times of a job.
constexpr std::size_t next_jobs = 5;
constexpr std::size_t next_times = 5;
/// Due jobs of the next day are counted per 15 min.
constexpr std::int64_t quarter = 15 * 60;
constexpr std::int64_t quarters = 96;

/// Reads a page of the known lists of a kind with `read`, and sets the cursor of the next page.
template <class View>
ListsPage<View> page_of(QueryContext& query, const PageRequest& part, const KindTraits& kind,
                        View (*read)(QueryContext& query, const std::string& list)) {
  const auto fields = read_cursor(part.after, "name", 1);
  // One more than the limit shows that there is another page.
  std::vector<std::string> lists;
  query.lists->each([&](const std::string& prefix, const KindTraits& of) {
    if (&of == &kind && (fields.empty() || prefix > fields[0]) && lists.size() <= part.limit)
      lists.push_back(prefix);
  });
  ListsPage<View> page;
  if (lists.size() > part.limit) {
    lists.pop_back();
    page.next = make_cursor({"name", lists.back()});
  }
  for (const std::string& list : lists) page.lists.push_back(read(query, list));
  return page;
}

/// Counts the jobs that are due in each period of 15 min from now on.
std::vector<std::int64_t> due_counts(QueryContext& query, const store::ScheduleKeys& keys,
                                     std::int64_t now) {
  std::vector<std::string> after;
  std::vector<std::string> until;
  for (std::int64_t i = 0; i < quarters; ++i) {
    after.push_back("(" + std::to_string(now + i * quarter));
    until.push_back(std::to_string(now + (i + 1) * quarter));
  }
  std::vector<redis::Command> commands;
  for (std::size_t i = 0; i < after.size(); ++i)
    commands.push_back({"ZCOUNT", keys.timeline, after[i], until[i]});
  std::vector<std::int64_t> counts;
  for (const redis::ReplyCopy& reply : query.redis.pipeline(commands)) {
    redis::checked(reply);
    counts.push_back(reply.number);
  }
  return counts;
}

}  // namespace

view::ScheduleView read_schedule(QueryContext& query, const std::string& list) {
  const store::ScheduleKeys keys = schedule_keys(query, list);
  const std::vector<std::string> queues = queues_of(query, list);
  const std::int64_t now = redis::server_time(query.redis.call({"TIME"})).count() / 1000;
  const std::string until = std::to_string(now);
  const std::string last = std::to_string(next_jobs - 1);
  std::vector<redis::Command> commands = {{"GET", keys.control},
                                          {"ZCARD", keys.timeline},
                                          {"ZCOUNT", keys.timeline, "-inf", until},
                                          {"ZRANGE", keys.timeline, "0", last, "WITHSCORES"}};
  std::vector<std::string> names;
  names.reserve(queues.size());
  for (const std::string& code : queues)
    commands.push_back({"LLEN", names.emplace_back(keys.queue(code))});
  const std::vector<redis::ReplyCopy> told = query.redis.pipeline(commands);
  for (const redis::ReplyCopy& reply : told) redis::checked(reply);
  view::ScheduleView schedule;
  schedule.list = list;
  schedule.key_prefix = key_names(query, list).prefix;
  schedule.halted = told[0].text == store::halt;
  for (std::size_t i = 0; i < queues.size(); ++i)
    schedule.queues.push_back({queues[i], told[4 + i].number});
  schedule.timeline = told[1].number;
  schedule.late = told[2].number;
  const auto& next = told[3].elements;
  for (std::size_t i = 0; i + 1 < next.size(); i += 2) {
    const auto due = due_second(read_real(next[i + 1].text));
    schedule.next.push_back(
        {next[i].text, due ? std::optional<WallTime>(std::chrono::seconds(*due)) : std::nullopt});
  }
  // Only jobs on the timeline are due.
  if (schedule.timeline > schedule.late) schedule.due_per_15min = due_counts(query, keys, now);
  return schedule;
}

view::FeedView read_feed(QueryContext& query, const std::string& list) {
  const store::FeedKeys keys(list);
  const std::vector<redis::ReplyCopy> told =
      query.redis.pipeline({{"LLEN", keys.ids},
                            {"ZCARD", keys.claimed},
                            {"HLEN", keys.cancelled},
                            {"SCARD", keys.stalled},
                            {"GET", keys.publishes},
                            {"GET", keys.finishes},
                            {"LRANGE", keys.ids, "-1", "-1"}});
  for (const redis::ReplyCopy& reply : told) redis::checked(reply);
  view::FeedView feed{.list = list,
                      .queued = told[0].number,
                      .claimed = told[1].number,
                      .cancelled = told[2].number,
                      .stalled = told[3].number,
                      .published = stored_number(told[4].text),
                      .finished = stored_number(told[5].text),
                      .oldest = {}};
  if (!told[6].elements.empty())
    feed.oldest = read_score_time(
        query.redis.call({"ZSCORE", keys.published, told[6].elements[0].text}).text);
  return feed;
}

std::vector<WallTime> times_of(const schedule::Schedule& read,
                               std::optional<store::UnixSeconds> due, store::UnixSeconds now) {
  std::vector<WallTime> times;
  if (due) times.emplace_back(std::chrono::seconds(*due));
  const auto* rule = std::get_if<schedule::Recurrence>(&read);
  if (rule == nullptr) return times;
  for (store::UnixSeconds after = std::max(now, due.value_or(now)); times.size() < next_times;) {
    const auto next = rule->next_after(after);
    if (!next) break;
    times.emplace_back(std::chrono::seconds(*next));
    after = *next;
  }
  return times;
}

void read_schedules(QueryContext& query, const std::string& list, std::vector<ItemView>& jobs) {
  if (jobs.empty()) return;
  const store::ScheduleKeys keys = schedule_keys(query, list);
  redis::Command rules{"HMGET", keys.schedules};
  for (const ItemView& job : jobs) rules.emplace_back(job.item);
  const std::vector<redis::ReplyCopy> told = query.redis.pipeline({{"TIME"}, rules});
  redis::checked(told[1]);
  const store::UnixSeconds now = told[0].elements.empty() ? 0 : told[0].elements[0].number;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const redis::ReplyCopy& text = told[1].elements.at(i);
    if (text.is_nil() || text.text.size() > schedule::max_schedule) continue;
    std::optional<store::UnixSeconds> due;
    if (jobs[i].due) due = std::chrono::duration_cast<std::chrono::seconds>(*jobs[i].due).count();
    schedule::Schedule read = schedule::parse_schedule(text.text, now);
    // The schedule of a job that runs once is STOP from then on.
    if (due && std::holds_alternative<schedule::Stop>(read)) read = schedule::At{*due};
    jobs[i].schedule = text.text;
    jobs[i].words = schedule::in_words(read, text.text);
    jobs[i].next = times_of(read, due, now);
  }
}

void walk_schedule(ItemsPage& page, QueryContext& query, const std::string& list,
                   const ItemFilter& filter, const PageRequest& part) {
  const ScheduleOfList of = schedule_of(query, list);
  const store::ScheduleKeys& keys = of.keys;
  const std::vector<std::string> codes = queues_of(query, list);
  std::vector<Phase> phases = {scanned_hash(query.redis, keys.taken)};
  for (const std::string& code : codes)
    phases.push_back(from_taking_end(query.redis, keys.queue(code)));
  const std::size_t timeline = phases.size();
  phases.push_back(by_score(query.redis, keys.timeline));
  phases.push_back(scanned_hash(query.redis, keys.statuses));
  phases.push_back(scanned_hash(query.redis, keys.schedules));
  // The first phase that has a job lists it.
  const auto phase_of = [&](const JobState& job) {
    const auto code = std::find(codes.begin(), codes.end(), job.queue);
    if (job.taken) return std::size_t{0};
    if (job.member && code != codes.end())
      return static_cast<std::size_t>(code - codes.begin()) + 1;
    return job.due ? timeline : job.status ? timeline + 1 : timeline + 2;
  };
  walk(page, phases, part, [&](std::size_t phase, const Step& step) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < step.names.size(); ++i) places.emplace(step.names[i], i);
    std::vector<std::optional<ItemView>> chosen(step.names.size());
    for (JobState& job : read_jobs_named(query.redis, of, step.names)) {
      if (phase_of(job) != phase) continue;
      const std::size_t at = places.at(job.item);
      if (phase > 0 && phase < timeline && job.state == "queued")
        job.queue_position = std::stoul(step.behind[at][0]);
      if (filter.fits(job)) chosen[at] = std::move(job);
    }
    return chosen;
  });
}

ListsPage<view::ScheduleView> list_schedules(QueryContext& query, const PageRequest& part) {
  return page_of(query, part, schedule_kind(), read_schedule);
}

ListsPage<view::FeedView> list_feeds(QueryContext& query, const PageRequest& part) {
  return page_of(query, part, feed_kind(), read_feed);
}

ScheduleDetail show_schedule(QueryContext& query, const std::string& list, const std::string& state,
                             const PageRequest& part) {
  // `list` may be a key prefix, which is of no kind and has jobs.
  const KindTraits* kind = find_kind(query, list);
  if (kind == nullptr) {
    check_known(query, list);
    kind = &schedule_kind();
  } else if (kind != &schedule_kind()) {
    throw QueryError(404, escape_text(list) + " is not a schedule");
  }
  check_state(list, state, view::view_of(*kind).states);
  ScheduleDetail found{read_schedule(query, list), {}};
  found.jobs.kind = kind;
  walk_schedule(found.jobs, query, list, {state, {}}, part);
  read_schedules(query, list, found.jobs.items);
  return found;
}

}  // namespace w8y::verbs
