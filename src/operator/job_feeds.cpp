#include "operator/job_feeds.hpp"

#include <array>
#include <random>

#include "core/escape.hpp"
#include "core/run_id.hpp"
#include "operator/feed_directory.hpp"
#include "operator/feed_jobs.hpp"
#include "operator/item_changes.hpp"
#include "operator/random_ids.hpp"
#include "operator/runs.hpp"
#include "operator/stored.hpp"
#include "store/run_record.hpp"
#include "store/scripts.hpp"

namespace w8y::verbs {

namespace scripts = store::scripts;

namespace {

/// Limit of an item in one reply.
constexpr const char* max_item_bytes = "100000000";

constexpr std::array names_of_changes = {"finish", "cancel", "stall", "retry", "retract", "next"};
/// The same, as the record of changes has them.
constexpr std::array records_of_changes = {"finished", "cancelled", "stalled",
                                           "retried",  "retracted", "moved first"};

}  // namespace

std::string id_error(const std::string& id) {
  if (id.find(store::part_separator) != std::string::npos)
    return "the ID " + escape_text(id) +
           " must not contain a NUL byte: it would end the ID in messages";
  if (id.size() > max_job_id)
    return "the ID has " + std::to_string(id.size()) + " bytes, and at most " +
           std::to_string(max_job_id) + " are allowed";
  return {};
}

void QueueFeed::put_all(const redis::Script& script, const redis::Command& keys,
                        const redis::Command& before, const std::vector<FeedItem>& items,
                        const redis::Command& after) {
  Calls calls;
  each_part(items, [&](std::span<const FeedItem> part) {
    redis::Command& args = calls.emplace_back(Calls::value_type{keys, before}).args;
    for (const auto& [id, item] : part) {
      args.insert(args.end(), {id, item});
      args.insert(args.end(), after.begin(), after.end());
    }
  });
  run_all(script, std::move(calls));
}

void QueueFeed::put(const std::vector<FeedItem>& items, bool high) {
  put_all(scripts::feed_put, {keys().config, keys().ids, keys().items, keys().publishes},
          {keys().feed, high ? "1" : "0"}, items, {});
}

std::optional<FeedItem> QueueFeed::get() {
  while (true) {
    redis::ReplyCopy told =
        run(scripts::feed_get,
            {keys().config, keys().ids, keys().items, keys().claimed, keys().stalled},
            {keys().feed, kind_name(kind()), max_item_bytes});
    auto& words = told.elements;
    if (words.empty() || words[0].text == "none") return std::nullopt;
    if (words[0].text == "long")
      throw FeedRefused("the next item, " + escape_text(words.at(1).text) + ", has " +
                        std::to_string(words.at(2).number) +
                        " bytes, more than can be read; nothing was removed");
    if (words[0].text == "got")
      return FeedItem(std::move(words.at(1).text), std::move(words.at(2).text));
  }
}

std::vector<JobFeed::Done> JobFeed::change(const char* what, const std::vector<std::string>& ids,
                                           const std::string& channel, const std::string& result) {
  std::vector<Done> done;
  const auto send = [&](std::span<const std::string> part) {
    redis::Command arguments = {keys().feed,  what,    keys().lease_prefix,
                                keys().taken, channel, result};
    arguments.insert(arguments.end(), part.begin(), part.end());
    redis::ReplyCopy told = run(scripts::job_change,
                                {keys().config, keys().ids, keys().items, keys().published,
                                 keys().claimed, keys().cancelled, keys().stalled, keys().finishes},
                                arguments);
    for (auto& each : told.elements)
      done.push_back(each.kind == redis::ReplyCopy::Kind::string ? Done{false, std::move(each.text)}
                                                                 : Done{each.number == 1, {}});
  };
  each_part(ids, send, walks_of_part);
  done.resize(ids.size());
  return done;
}

/// Records the jobs that were changed.
template <class Changed>
void JobFeed::record(const char* change, const std::vector<std::string>& ids,
                     const std::vector<Changed>& changed, const std::string& reason) {
  std::vector<DisplayItem> jobs;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (changed[i].done) jobs.emplace_back(ids[i]);
  record_changes(client(), KeyNames(keys().feed).start(), {change, by(), reason, {}}, jobs);
}

std::vector<JobFeed::Done> JobFeed::change(JobChange what, const std::vector<std::string>& ids) {
  const auto number = static_cast<std::size_t>(what);
  std::vector<Done> done = change(names_of_changes.at(number), ids, {}, {});
  record(records_of_changes.at(number), ids, done, {});
  return done;
}

JobFeed::Done JobFeed::finish(const std::string& id, const std::optional<std::string>& result) {
  const std::vector<Done> done =
      change("finish", {id}, result ? keys().finish_channel : std::string(),
             result.value_or(std::string()));
  record("finished", {id}, done, {});
  return done.front();
}

redis::Command JobFeed::keys_of_put() const {
  return {keys().config,    keys().ids,     keys().items,     keys().publishes,
          keys().published, keys().claimed, keys().cancelled, keys().stalled};
}

store::RecordedReply JobFeed::put(const std::vector<NewJob>& jobs, const PutTerms& terms) {
  // In a cluster, the set of all names has another hash slot.
  if (terms.create && in_cluster())
    FeedDirectory({client(), true}).create(keys().feed, FeedKind::job, std::nullopt);
  const std::string instance = terms.create ? RandomIds().next() : std::string();
  const store::RequestRecord record = record_of(terms.request, keys().request_prefix);
  redis::Command arguments = {keys().feed, instance,    keys().keep, keys().result_prefix,
                              record.key,  record.hash, record.data};
  std::vector<std::string> ids, times, hows;
  times.reserve(jobs.size());
  hows.reserve(jobs.size());
  for (const NewJob& job : jobs) {
    times.push_back(
        job.keep ? std::to_string(
                       std::chrono::duration_cast<std::chrono::milliseconds>(*job.keep).count())
                 : std::string());
    hows.push_back(std::string(job.high ? "h" : "") + (job.is_new ? "n" : "") +
                   (job.rerun ? "r" : ""));
    arguments.insert(arguments.end(), {job.id, job.payload, hows.back(), times.back()});
    ids.push_back(job.id);
  }
  store::RecordedReply reply =
      store::read_recorded(run(scripts::job_put, keys_of_put(), arguments));
  record_added(client(), KeyNames(keys().feed).start(), by(), ids, reply);
  return reply;
}

void JobFeed::put(const std::vector<FeedItem>& items, bool high) {
  put_all(scripts::job_put, keys_of_put(),
          {keys().feed, "", keys().keep, keys().result_prefix, "", "", ""}, items,
          {high ? "hn" : "n", ""});
  std::vector<DisplayItem> jobs;
  for (const FeedItem& item : items) jobs.emplace_back(item.first);
  record_changes(client(), KeyNames(keys().feed).start(), {"added", by(), {}, {}}, jobs);
}

std::optional<FeedJobState> JobFeed::state(const std::string& id) {
  check();
  // Reads twice, since another client may have put the job again between the two queries.
  for (int i = 0; i < 2; ++i) {
    if (auto found = job(id)) {
      FeedJobState state{std::string(found->state), std::move(found)};
      if (state.state == "stalled") state.end = stall_cause(id);
      return state;
    }
    auto kept = kept_result(id);
    if (kept && kept->state == "finished") return FeedJobState{kept->state, std::nullopt, kept};
  }
  return std::nullopt;
}

/// Returns why a job is stalled, from the history if its result is not kept.
std::optional<KeptResult> JobFeed::stall_cause(const std::string& id) {
  if (auto kept = kept_result(id); kept && kept->state == "stalled") return kept;
  const std::vector<view::RunRecord> past = runs(id);
  if (past.empty() || !past.front().failed()) return std::nullopt;
  const view::RunRecord& run = past.front();
  KeptResult cause;
  cause.run = run.run;
  cause.reason = !run.stalled.empty() ? run.stalled
                 : run.reason.empty() ? run.outcome
                                      : run.outcome + ": " + run.reason;
  return cause;
}

std::optional<KeptResult> JobFeed::kept_result(const std::string& id) {
  const std::string key = keys().result_prefix + id;
  redis::ReplyCopy reply =
      read({"HMGET", key, "feed", "state", "run", "time_ms", "result", "truncated", "reason"}, key);
  auto& fields = reply.elements;
  // Another feed may share the key.
  if (fields.size() < 7 || fields[1].is_nil() || fields[0].text != keys().feed) return std::nullopt;
  KeptResult kept;
  kept.state = std::move(fields[1].text);
  kept.run = std::move(fields[2].text);
  kept.time = WallTime(stored_number(fields[3].text));
  if (!fields[4].is_nil()) kept.result = std::move(fields[4].text);
  kept.truncated = fields[5].text == "1";
  kept.reason = std::move(fields[6].text);
  return kept;
}

JobFeed::ReturnResult JobFeed::end_claims(const char* how, const std::vector<std::string>& ids,
                                          const FailTerms& failure) {
  const std::string max_failures = std::to_string(failure.max_failures);
  const std::string history = store::to_text(failure.history);
  const std::string max_id = std::to_string(item_shown);
  RunIds run_ids((std::uint64_t{std::random_device()()} << 32U) | std::random_device()());
  const WallTime time = now();
  ReturnResult result;
  each_part(ids, [&](std::span<const std::string> part) {
    redis::Command arguments = {
        keys().feed, how,          keys().lease_prefix, keys().taken, max_failures, history,
        max_id,      failure.host, failure.reason,      keys().runs,  keys().events};
    std::vector<std::string> runs;
    for (std::size_t i = 0; i < part.size(); ++i) runs.push_back(run_ids.next(time).str());
    for (std::size_t i = 0; i < part.size(); ++i)
      arguments.insert(arguments.end(), {part[i], runs[i]});
    redis::ReplyCopy told = run(scripts::job_return,
                                {keys().config, keys().ids, keys().items, keys().published,
                                 keys().claimed, keys().cancelled, keys().stalled},
                                arguments);
    result.unwritten = std::move(told.elements.back().text);
    told.elements.pop_back();
    for (auto& each : told.elements)
      result.jobs.push_back(each.kind == redis::ReplyCopy::Kind::string
                                ? Returned{{false, std::move(each.text)}, false}
                                : Returned{{each.number > 0, {}}, each.number == 2});
  });
  result.jobs.resize(ids.size());
  record(std::string_view(how) == "fail" ? "failed" : "requeued", ids, result.jobs, failure.reason);
  return result;
}

JobFeed::ReturnResult JobFeed::fail(const std::vector<std::string>& ids, const FailTerms& failure) {
  return end_claims("fail", ids, failure);
}

JobFeed::ReturnResult JobFeed::requeue(const std::vector<std::string>& ids) {
  return end_claims("requeue", ids, {0, HistoryLimits::none(), {}, {}});
}

std::int64_t JobFeed::failures(const std::string& id) {
  check();
  return read({"HGET", keys().cancelled, id}, keys().cancelled).number;
}

JobFeed::Whereabouts JobFeed::find(const std::string& id) {
  const std::vector<redis::ReplyCopy> told =
      client().call_all({{"HEXISTS", keys().items, id}, {"SISMEMBER", keys().stalled, id}});
  if (told[0].number == 0) return Whereabouts::gone;
  return told[1].number == 1 ? Whereabouts::stalled : Whereabouts::there;
}

std::optional<view::ItemView> JobFeed::job(const std::string& id) {
  return read_feed_job(client(), keys().feed, id);
}

/// A user with permissions only for Thoonk's keys cannot read the history.
std::vector<view::RunRecord> JobFeed::runs(const std::string& id) {
  try {
    return runs_of_item(client(), keys().feed, id);
  } catch (const redis::RedisError& error) {
    if (error.code() == redis::ErrorCode::none) throw;
    return {};
  }
}

WallTime JobFeed::now() {
  return redis::server_time(client().call({"TIME"}));
}

MaintenanceResult JobFeed::maintain(MaintenanceTerms terms) {
  check();
  terms.always = true;
  store::thoonk::JobMaintenance maintenance(keys(), std::move(terms));
  try {
    while (const auto call = maintenance.next()) maintenance.answered(call->run(client()));
  } catch (const redis::RedisError& error) {
    refuse(error);
  }
  return maintenance.result();
}

bool JobFeed::stall_at_end(const std::string& id, const std::string& run) {
  return client()
             .run(scripts::job_stall_at_end, {keys().taken, keys().claimed}, {id, run})
             .number == 1;
}

}  // namespace w8y::verbs
