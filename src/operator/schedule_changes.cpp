#include "operator/schedule_changes.hpp"

#include <algorithm>
#include <set>

#include "core/escape.hpp"
#include "core/number.hpp"
#include "operator/item_changes.hpp"
#include "operator/query_context.hpp"
#include "operator/stored.hpp"
#include "redis/hash_slots.hpp"
#include "store/scripts.hpp"

namespace w8y::verbs {

namespace scripts = store::scripts;

namespace {

/// Fields per reply of a hash that is too large for one reply.
constexpr const char* hash_fields_at_once = "16";

std::optional<std::string> text_of(const redis::ReplyCopy& value) {
  return value.is_nil() ? std::nullopt : std::optional(value.text);
}

redis::ReplyCopy good(redis::ReplyCopy&& value, const std::string& key) {
  if (value.is_error()) throw error_at(value.text, redis::error_code(value.text), key);
  return std::move(value);
}

struct EffectWords {
  std::string name;
  std::string number;
  std::string jitter;
};

EffectWords words_of(const SetEffect& effect) {
  if (const auto* at = std::get_if<store::RunAt>(&effect))
    return {"at", std::to_string(at->time), ""};
  if (std::holds_alternative<store::Enqueue>(effect)) return {"enqueue", "", ""};
  return {std::holds_alternative<store::StopJob>(effect) ? "stop" : "bad", "", ""};
}

}  // namespace

std::optional<JobStatus> read_status(const Job& job, std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto time = read_integer(text.substr(colon + 1), seconds_range);
  if (!time) return std::nullopt;
  return JobStatus{job, std::string(text.substr(0, colon)), *time};
}

UnixSeconds ScheduleChanges::now() {
  return redis::server_time(client_.call({"TIME"})).count() / 1000;
}

redis::ReplyCopy ScheduleChanges::send(const std::vector<SetJob>& changes,
                                       const std::vector<Sent>& sent) {
  std::vector<EffectWords> effects;
  effects.reserve(sent.size());
  redis::Command arguments{keys_.work_prefix, keys_.wake};
  arguments.reserve(2 + 5 * sent.size());
  for (const auto& [place, only_if] : sent) {
    const SetJob& change = changes[place];
    EffectWords& effect = effects.emplace_back(words_of(change.effect));
    if (std::holds_alternative<BadJob>(change.effect)) effect.number = only_if;
    if (change.jitter.count() > 0) effect.jitter = std::to_string(change.jitter.count());
    arguments.insert(arguments.end(),
                     {change.job, change.schedule, effect.name, effect.number, effect.jitter});
  }
  return client_.run(
      scripts::schedule_set,
      {keys_.schedules, keys_.statuses, keys_.timeline, keys_.due, keys_.jitter, keys_.failures},
      arguments);
}

void ScheduleChanges::record(const char* change, const std::vector<DisplayItem>& jobs) {
  // The names of these keys start with the key prefix of the schedule.
  const std::string start = keys_.due.substr(0, keys_.due.size() - std::string_view("due").size());
  record_changes(client_, start, {change, by_, {}, {}}, jobs);
}

void ScheduleChanges::set(const std::vector<SetJob>& changes) {
  std::vector<Sent> all(changes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].place = i;
  send(changes, all);
  std::vector<DisplayItem> jobs;
  for (const SetJob& change : changes) jobs.emplace_back(change.job);
  record("set", jobs);
}

std::vector<std::size_t> ScheduleChanges::set_keeping_valid(const std::vector<SetJob>& changes,
                                                            const IsValid& is_valid) {
  std::vector<Sent> sent;
  for (std::size_t i = 0; i < changes.size(); ++i) sent.push_back({i, "n"});
  std::vector<std::size_t> kept;
  while (!sent.empty()) {
    const redis::ReplyCopy reply = send(changes, sent);
    std::vector<Sent> again;
    for (std::size_t i = 0; i + 2 < reply.elements.size(); i += 3) {
      const std::size_t place =
          sent.at(static_cast<std::size_t>(reply.elements[i].number) - 1).place;
      const std::string& stored = reply.elements[i + 2].text;
      if (reply.elements[i + 1].text == "b" && !is_valid(stored)) {
        again.push_back({place, "s" + stored});
      } else {
        kept.push_back(place);
      }
    }
    sent = std::move(again);
  }
  std::sort(kept.begin(), kept.end());
  std::vector<DisplayItem> jobs;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!std::binary_search(kept.begin(), kept.end(), i)) jobs.emplace_back(changes[i].job);
  record("set", jobs);
  return kept;
}

bool ScheduleChanges::unset(const Job& job) {
  const std::string queue = keys_.queue(code_of(job));
  const std::string members = keys_.members(code_of(job));
  const bool done = client_
                        .run(scripts::schedule_unset,
                             {keys_.schedules, keys_.statuses, keys_.timeline, keys_.failures,
                              queue, members, keys_.due, keys_.jitter},
                             {keys_.work_prefix, job})
                        .number == 1;
  if (done) record("unset", {DisplayItem(job)});
  return done;
}

RunNow ScheduleChanges::run_now(const Job& job) {
  const std::string said =
      client_
          .run(scripts::schedule_run,
               {keys_.schedules, keys_.statuses, keys_.timeline, keys_.control, keys_.paused},
               {keys_.work_prefix, keys_.wake, job})
          .text;
  if (said == "entered") {
    record("started", {DisplayItem(job)});
    return RunNow::entered;
  }
  if (said == "running") return RunNow::running;
  if (said == "queued") return RunNow::queued;
  if (said == "halted") return RunNow::halted;
  if (said == "paused") return RunNow::paused;
  return said == "bad" ? RunNow::bad : RunNow::unknown;
}

JobView ScheduleChanges::view(const Job& job) {
  const std::string working = keys_.working(job);
  std::vector<redis::ReplyCopy> found = client_.pipeline({{"HGET", keys_.statuses, job},
                                                          {"HGET", keys_.schedules, job},
                                                          {"ZSCORE", keys_.timeline, job},
                                                          {"EXISTS", working}});
  const std::string* keys[] = {&keys_.statuses, &keys_.schedules, &keys_.timeline, &working};
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = good(std::move(found[i]), *keys[i]);
  JobView view{text_of(found[0]), text_of(found[1]), std::nullopt, found[3].number == 1};
  if (const auto score = text_of(found[2])) view.next_run = read_real(*score).value_or(0);
  return view;
}

ScheduleChanges::Fields ScheduleChanges::fields(const std::string& hash) {
  Fields all;
  const auto take = [&all](redis::ReplyCopy* field) {
    all.emplace_back(std::move(field[0].text), std::move(field[1].text));
    return true;
  };
  try {
    auto told = client_.call({"HGETALL", hash}).elements;
    for (std::size_t i = 0; i + 1 < told.size(); i += 2) take(&told[i]);
    return all;
  } catch (const redis::RedisError& error) {
    if (error.code() != redis::ErrorCode::none) throw error_at(error.what(), error.code(), hash);
    if (!client_.reconnect()) throw;
  }
  std::set<Job> seen;  // HSCAN may return a job twice
  scan(client_, "HSCAN", hash, hash_fields_at_once, take);
  std::erase_if(all, [&seen](const auto& field) { return !seen.insert(field.first).second; });
  return all;
}

std::vector<std::pair<Job, double>> ScheduleChanges::timeline() {
  std::vector<std::pair<Job, double>> all;
  std::vector<redis::ReplyCopy> answer =
      client_.pipeline({{"ZRANGE", keys_.timeline, "0", "-1", "WITHSCORES"}});
  redis::ReplyCopy told = good(std::move(answer.at(0)), keys_.timeline);
  for (std::size_t i = 0; i + 1 < told.elements.size(); i += 2)
    all.emplace_back(std::move(told.elements[i].text),
                     read_real(told.elements[i + 1].text).value_or(0));
  return all;
}

void ScheduleChanges::halt(const std::string& who) {
  // Set first, so that any client that sees HALT finds the operator.
  for (auto& value : client_.pipeline({{"SET", keys_.halted, who},
                                       {"SET", keys_.control, store::halt},
                                       {"PUBLISH", keys_.wake, "control"}}))
    good(std::move(value), keys_.control);
}

bool ScheduleChanges::resume() {
  std::vector<redis::ReplyCopy> done = client_.pipeline(
      {{"DEL", keys_.control}, {"DEL", keys_.halted}, {"PUBLISH", keys_.wake, "control"}});
  for (auto& value : done) value = good(std::move(value), keys_.control);
  return done[0].number > 0;
}

DispatchReply ScheduleChanges::dispatch(const DispatchCall& call) {
  const store::DispatchWords words(keys_, call);
  return store::read_dispatch(
      client_.run(scripts::schedule_dispatch, words.keys(), words.arguments()));
}

ScheduleChanges schedule_changes(Connection& at, const std::string& prefix, std::string by) {
  check_hash_tag(at.reach(), "prefix", prefix, "-k '{redbike}'");
  return {at.redis(), ScheduleKeys(prefix), std::move(by)};
}

}  // namespace w8y::verbs
