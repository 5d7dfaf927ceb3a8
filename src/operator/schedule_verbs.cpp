// Verbs of schedules.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/escape.hpp"
#include "core/job_code.hpp"
#include "operator/job_total.hpp"
#include "operator/key_names.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/schedule_changes.hpp"
#include "operator/schedule_jobs.hpp"
#include "operator/schedules.hpp"
#include "schedule/schedule.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::verbs {

namespace {

using view::ItemView;

/// Refuses a verb, with the error "LIST is a schedule", `text`, ": w8yctl schedule -k PREFIX" and
/// `subcommand`.
[[noreturn]] void refuse_schedule(QueryContext& query, const std::string& list,
                                  const std::string& text, const std::string& subcommand) {
  throw QueryError(409, escape_text(list) + " is a schedule" + text + ": w8yctl schedule -k " +
                            shell_argument(key_names(query, list).prefix) + subcommand);
}

void copy_schedule(const ListConfig& rule, KnownList& into) {
  const ScheduleSettings& settings = rule.schedule();
  into.key_prefix = rule.bare_key_prefix();
  into.shared = settings.shared;
  into.queues = settings.queues;
  into.catch_up = settings.catch_up;
}

void list_scheduled(QueryContext& query, const std::string& list, const ItemFilter& filter,
                    const PageRequest& part, ItemsPage& found) {
  found.length = static_cast<std::int64_t>(number_of_jobs(query.redis, schedule_of(query, list)));
  walk_schedule(found, query, list, filter, part);
}

std::optional<ItemView> scheduled_details(QueryContext& query, const std::string& list,
                                          const Item& job) {
  const ScheduleOfList of = schedule_of(query, list);
  const store::ScheduleKeys& keys = of.keys;
  const auto there =
      query.redis.pipeline({{"HEXISTS", keys.statuses, job}, {"HEXISTS", keys.schedules, job}});
  if (there[0].number + there[1].number == 0 || of.shared.has_job(job)) return std::nullopt;
  auto jobs = read_jobs_named(query.redis, of, {job});
  std::vector<ItemView> items(std::make_move_iterator(jobs.begin()),
                              std::make_move_iterator(jobs.end()));
  read_schedules(query, list, items);
  return std::move(items.front());
}

/// Quarantines a job of a schedule, by setting its schedule to STOP.
void stop_scheduled(QueryContext& query, const view::RunView& run, const ChangeNote&) {
  const std::string& list = run.list;
  const Item& job = run.status.item.beginning;
  if (run.status.item.is_truncated())
    throw QueryError(409,
                     "the job is too long for this command; set it to STOP first: "
                     "w8yctl schedule -k " +
                         shell_argument(key_names(query, list).prefix) + " set");
  ScheduleChanges(query.redis, schedule_keys(query, list)).set({{job, "STOP", store::StopJob{}}});
}

std::vector<ChangedItem> refuse_group_change(QueryContext& query, const std::string& list,
                                             const std::string&, const std::vector<Item>&,
                                             GroupChange, const ChangeNote&) {
  refuse_schedule(query, list, ", whose jobs run again when they are set; to run a job again",
                  " set JOB NOW");
}

/// Reads whether the schedule is halted, by which operator, and whether it has keys.
void read_halt(QueryContext& query, WhyList& into) {
  const store::ScheduleKeys keys = schedule_keys(query, into.name);
  const auto told =
      query.redis.pipeline({{"GETRANGE", keys.control, "0", "15"},
                            {"GETRANGE", keys.halted, "0", "255"},
                            {"EXISTS", keys.schedules, keys.statuses, keys.timeline}});
  if (!told[0].is_error() && told[0].text == store::halt)
    into.halted = told[1].is_error() ? std::string() : told[1].text;
  into.has_keys = into.has_keys || into.halted || told[2].number > 0;
}

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

/// Reads a job. A job on the timeline has the description of its schedule.
std::optional<ItemView> find_scheduled(QueryContext& query, const std::string& list,
                                       const Item& name) {
  redis::SyncClient& client = query.redis;
  const ScheduleOfList schedule = schedule_of(query, list);
  auto job = read_job(client, schedule, name);
  if (job && job->state == "scheduled")
    job->words =
        rule_words(client, schedule.keys, *job, client.call({"TIME"}).elements.at(0).number);
  return job;
}

constexpr std::size_t max_scheduled_counted = 10'000;

WhyItems count_scheduled(QueryContext& query, const WhyList& list) {
  const view::ItemList found = read_jobs(query.redis, schedule_of(query, list.name),
                                         queues_of(query, list.name), {}, max_scheduled_counted);
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
    if (*job.due <= list.now) ++items.late;
    if (*job.due > list.now && (!items.next_due || *job.due < *items.next_due))
      items.next_due = job.due;
  }
  items.queues.assign(queued.begin(), queued.end());
  return items;
}

/// Enqueues the job, as if it were due.
RunJobResult run_scheduled(QueryContext& query, const std::string& list, const Item& job,
                           bool next) {
  if (next)
    return {false, escape_text(list) +
                       " is a schedule, whose queues keep their order; omit --next to "
                       "put the job in its queue now"};
  const std::string name = escape_text(job);
  const ScheduleOfList of = schedule_of(query, list);
  const std::string way = "w8yctl schedule -k " + shell_argument(key_names(query, list).prefix);
  if (const auto* other = of.shared.find(code_of(job)))
    return {false, "the job " + name + " belongs to the list " + escape_text(other->list) +
                       "; to run it: w8yctl run " + shell_argument(other->list) + " " +
                       shell_item(job)};
  switch (ScheduleChanges(query.redis, of.keys, query.by).run_now(job)) {
    case RunNow::entered:
      return {true, name + " is in the queue " + escape_text(code_of(job)) + " now"};
    case RunNow::running:
      return {false, name + " runs already"};
    case RunNow::queued:
      return {false, name + " is in the queue " + escape_text(code_of(job)) + " already"};
    case RunNow::halted:
      return {false, "the schedule is halted; resume it with: " + way + " control RESUME"};
    case RunNow::paused:
      return {false, paused_text(list)};
    case RunNow::bad:
      return {false, "the code of " + name + " is invalid: its keys would be keys of another code"};
    case RunNow::unknown:
      break;
  }
  return {false, "the schedule " + escape_text(list) + " has no job " + name +
                     "; to set one: " + way + " set"};
}

}  // namespace

const KindVerbs schedule_verbs{
    .copy_settings = copy_schedule,
    .list_items = list_scheduled,
    .show_item = scheduled_details,
    .find_item = find_scheduled,
    .count_items = count_scheduled,
    .quarantine_run = stop_scheduled,
    .all_items =
        [](QueryContext& query, const std::string& list, const std::string& state,
           std::size_t most) {
          check_hash_tag(query, list);
          return read_jobs(query.redis, schedule_of(query, list), queues_of(query, list), state,
                           most);
        },
    .change_group = refuse_group_change,
    .refuse_items =
        [](QueryContext& query, const std::string& list) {
          refuse_schedule(query, list, "; to set and show its jobs", "");
        },
    .refuse_rerun =
        [](QueryContext& query, const std::string& list, const std::string& job) {
          refuse_schedule(query, list, "; to run a job again", " set " + job + " NOW");
        },
    .run_job = run_scheduled,
    .add_facts = read_halt,
};

}  // namespace w8y::verbs
