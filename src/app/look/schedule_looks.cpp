#include "app/look/schedule_looks.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "app/look/cursor.hpp"
#include "app/look/known_lists.hpp"
#include "app/look/stored.hpp"
#include "app/look/walk.hpp"
#include "core/escape.hpp"
#include "core/number.hpp"
#include "core/schedule_settings.hpp"
#include "schedule/schedule.hpp"
#include "store/schedule/keys.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::app::look {

namespace {

using ops::Json;

/// Next jobs of a schedule, and next times of a job.
constexpr std::size_t next_jobs = 5;
constexpr std::size_t next_times = 5;
/// What is due in the next day is counted by the quarter of an hour.
constexpr std::int64_t quarter = 15 * 60;
constexpr std::int64_t quarters = 96;

void check(const redis::ReplyCopy& reply) {
  if (reply.is_error()) throw redis::RedisError(reply.text, redis::error_code(reply.text));
}

/// Those of the config, of one kind of work, behind the one that was told last; one more than
/// wanted, if there is one.
std::vector<std::string> lists_of_kind(const Sight& sight, SourceKind kind, const Part& part) {
  const auto fields = read_cursor(part.after, "name", 1);
  std::vector<std::string> lists;
  auto at = fields.empty() ? sight.config.lists.begin() : sight.config.lists.upper_bound(fields[0]);
  for (; at != sight.config.lists.end() && lists.size() <= part.limit; ++at)
    if (at->second->kind() == kind) lists.push_back(at->first);
  return lists;
}

/// Puts each list under `name`, and where it goes on.
Json each_list(const char* name, std::vector<std::string> lists, const Part& part,
               const std::function<Json(const std::string&)>& show) {
  Json json = {{name, Json::array()}, {"next", nullptr}};
  if (lists.size() > part.limit) {
    lists.pop_back();
    json["next"] = make_cursor({"name", lists.back()});
  }
  for (const std::string& list : lists) json[name].push_back(show(list));
  return json;
}

Json due_jobs(const redis::ReplyCopy& told) {
  Json jobs = Json::array();
  for (std::size_t i = 0; i + 1 < told.elements.size(); i += 2) {
    Json job = Json::object();
    ops::put_bytes(job, "job", told.elements[i].text);
    const auto due = due_second(read_real(told.elements[i + 1].text));
    job["due_ms"] = due ? Json(*due * 1000) : Json();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// How many jobs are due in each quarter of an hour from now on.
Json due_counts(Sight& sight, const store::ScheduleKeys& keys, std::int64_t now) {
  std::vector<std::string> after;
  std::vector<std::string> until;
  for (std::int64_t i = 0; i < quarters; ++i) {
    after.push_back("(" + std::to_string(now + i * quarter));
    until.push_back(std::to_string(now + (i + 1) * quarter));
  }
  std::vector<redis::Command> commands;
  for (std::size_t i = 0; i < after.size(); ++i)
    commands.push_back({"ZCOUNT", keys.timeline, after[i], until[i]});
  Json counts = Json::array();
  for (const redis::ReplyCopy& reply : sight.redis.pipeline(commands)) {
    check(reply);
    counts.push_back(reply.number);
  }
  return counts;
}

Json overview(Sight& sight, const std::string& list) {
  const store::ScheduleKeys keys(list);
  std::vector<std::string> queues;
  if (const Rule* rule = rule_of(sight, list);
      rule != nullptr && rule->kind() == SourceKind::schedule)
    queues = rule->schedule().queues;
  const std::int64_t now = redis::server_time(sight.redis.call({"TIME"})).count() / 1000;
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
  const std::vector<redis::ReplyCopy> told = sight.redis.pipeline(commands);
  for (const redis::ReplyCopy& reply : told) check(reply);
  Json json = Json::object();
  ops::put_bytes(json, "list", list);
  json["halted"] = told[0].text == store::halt;
  json["queues"] = Json::array();
  for (std::size_t i = 0; i < queues.size(); ++i) {
    Json queue = Json::object();
    ops::put_bytes(queue, "code", queues[i]);
    queue["queued"] = told[4 + i].number;
    json["queues"].push_back(std::move(queue));
  }
  json["timeline"] = told[1].number;
  json["late"] = told[2].number;
  Json next = due_jobs(told[3]);
  json["oldest_due_ms"] = next.empty() ? Json() : next[0]["due_ms"];
  json["due_next"] = std::move(next);
  // Of what is not on the timeline, nothing is due.
  json["due_by_quarter"] =
      told[1].number > told[2].number ? due_counts(sight, keys, now) : Json::array();
  return json;
}

Json feed_counts(Sight& sight, const std::string& feed) {
  const store::FeedKeys keys(feed);
  const std::vector<redis::ReplyCopy> told =
      sight.redis.pipeline({{"LLEN", keys.ids},
                            {"ZCARD", keys.claimed},
                            {"HLEN", keys.cancelled},
                            {"SCARD", keys.stalled},
                            {"GET", keys.publishes},
                            {"GET", keys.finishes},
                            {"LRANGE", keys.ids, "-1", "-1"}});
  for (const redis::ReplyCopy& reply : told) check(reply);
  Json json = Json::object();
  ops::put_bytes(json, "list", feed);
  const char* const names[] = {"waiting", "claimed",   "cancelled",
                               "stalled", "published", "finished"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    json[names[i]] = i < 4 ? told[i].number : stored_number(told[i].text);
  json["oldest_ms"] = nullptr;
  if (!told[6].elements.empty()) {
    const redis::ReplyCopy since =
        sight.redis.call({"ZSCORE", keys.published, told[6].elements[0].text});
    if (const auto time = read_score_time(since.text)) json["oldest_ms"] = time->count();
  }
  return json;
}

/// The next times by a rule, after the one that it is due at.
Json times_of(const schedule::Schedule& read, std::optional<store::UnixSeconds> due,
              store::UnixSeconds now) {
  Json times = Json::array();
  if (due) times.push_back(*due * 1000);
  const auto* rule = std::get_if<schedule::Recurrence>(&read);
  if (rule == nullptr) return times;
  for (store::UnixSeconds after = std::max(now, due.value_or(now)); times.size() < next_times;) {
    const auto next = rule->next_after(after);
    if (!next) break;
    times.push_back(*next * 1000);
    after = *next;
  }
  return times;
}

}  // namespace

std::vector<Json> with_rules(Sight& sight, const std::string& list,
                             const std::vector<JobState>& jobs) {
  std::vector<Json> shown;
  if (jobs.empty()) return shown;
  const store::ScheduleKeys keys(list);
  redis::Command rules{"HMGET", keys.schedules};
  for (const JobState& job : jobs) rules.emplace_back(job.job);
  const std::vector<redis::ReplyCopy> told = sight.redis.pipeline({{"TIME"}, rules});
  check(told[1]);
  const store::UnixSeconds now = told[0].elements.empty() ? 0 : told[0].elements[0].number;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Json json = to_json(jobs[i]);
    const redis::ReplyCopy& text = told[1].elements.at(i);
    if (!text.is_nil() && text.text.size() <= schedule::longest_schedule) {
      schedule::Schedule read = schedule::parse_schedule(text.text, now);
      // What was set to run once is stopped from then on.
      if (jobs[i].due && std::holds_alternative<schedule::Stop>(read))
        read = schedule::At{*jobs[i].due};
      ops::put_bytes(json, "rule", text.text);
      ops::put_bytes(json, "words", schedule::in_words(read, text.text));
      json["next_ms"] = times_of(read, jobs[i].due, now);
    }
    shown.push_back(std::move(json));
  }
  return shown;
}

void walk_schedule(Json& json, const char* items, Sight& sight, const std::string& list,
                   const Part& part,
                   const std::function<std::optional<Json>(const JobState&)>& show) {
  const store::ScheduleKeys keys(list);
  std::vector<std::string> codes;
  if (const Rule* rule = rule_of(sight, list);
      rule != nullptr && rule->kind() == SourceKind::schedule)
    codes = rule->schedule().queues;
  std::vector<Phase> phases = {scanned_hash(sight.redis, keys.taken)};
  for (const std::string& code : codes)
    phases.push_back(from_taking_end(sight.redis, keys.queue(code)));
  const std::size_t timeline = phases.size();
  phases.push_back(by_score(sight.redis, keys.timeline));
  phases.push_back(scanned_hash(sight.redis, keys.statuses));
  phases.push_back(scanned_hash(sight.redis, keys.schedules));
  // Each job is told in the first of them that has it.
  const auto phase_of = [&](const JobState& job) {
    const auto code = std::find(codes.begin(), codes.end(), job.queue);
    if (job.taken) return std::size_t{0};
    if (job.member && code != codes.end())
      return static_cast<std::size_t>(code - codes.begin()) + 1;
    return job.due ? timeline : job.status ? timeline + 1 : timeline + 2;
  };
  walk(json, items, phases, part, [&](std::size_t phase, const Step& step) {
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < step.names.size(); ++i) places.emplace(step.names[i], i);
    std::vector<std::optional<Json>> chosen(step.names.size());
    for (JobState& job : read_jobs_named(sight.redis, keys, step.names)) {
      if (phase_of(job) != phase) continue;
      const std::size_t at = places.at(job.job);
      if (phase > 0 && phase < timeline && std::string_view(job.state) == "queued")
        job.place = std::stoul(step.behind[at][0]);
      chosen[at] = show(job);
    }
    return chosen;
  });
}

Json schedules_json(Sight& sight, const Part& part) {
  return each_list("schedules", lists_of_kind(sight, SourceKind::schedule, part), part,
                   [&](const std::string& list) { return overview(sight, list); });
}

Json schedule_json(Sight& sight, const std::string& list, const std::string& state,
                   const Part& part) {
  if (kind_of(sight, list) != SourceKind::schedule)
    throw Refusal(404, escape_text(list) + " is no schedule");
  check_state(list, state, job_states);
  Json json = {{"schedule", overview(sight, list)}};
  std::vector<JobState> found;
  walk_schedule(json, "jobs", sight, list, part, [&](const JobState& job) -> std::optional<Json> {
    if (!state.empty() && state != job.state) return std::nullopt;
    found.push_back(job);
    return Json();  // put in below: their rules are asked for all at once
  });
  found.resize(json["jobs"].size());
  json["jobs"] = with_rules(sight, list, found);
  return json;
}

Json feeds_json(Sight& sight, const Part& part) {
  return each_list("feeds", lists_of_kind(sight, SourceKind::job, part), part,
                   [&](const std::string& feed) { return feed_counts(sight, feed); });
}

}  // namespace w8y::app::look
