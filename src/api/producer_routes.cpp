// Items, jobs and schedules of programs that create work.

#include <utility>

#include "api/parameters.hpp"
#include "api/producer_bodies.hpp"
#include "api/producer_write.hpp"
#include "api/query_at.hpp"
#include "api/query_json.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "operator/changes.hpp"
#include "operator/items.hpp"
#include "operator/key_prefixes.hpp"
#include "operator/kinds.hpp"
#include "operator/lists.hpp"
#include "operator/schedule_set.hpp"

namespace w8y::api {

namespace {

using verbs::QueryContext;
using verbs::QueryError;

/// Throws QueryError 404 for a list that neither the config, a host of the fleet nor Redis has.
void check_exists(QueryContext& query, const std::string& list) {
  verbs::refuse_key_prefix(query, list);
  try {
    verbs::check_known(query, list);
  } catch (const QueryError& refusal) {
    if (refusal.status() != 404) throw;
    throw QueryError(404, std::string(refusal.what()) + R"(; "create": true in the body adds it)");
  }
}

/// Refuses a name that the config has for a list of another kind.
void check_schedule(const QueryContext& query, const std::string& name) {
  const auto known = query.lists == nullptr ? std::nullopt : query.lists->find(name);
  if (known && known->kind != &verbs::schedule_kind())
    throw QueryError(conflict, escape_text(name) + " is not a schedule");
}

std::string add_items(QueryContext& query, const http::HttpRequest& request) {
  const std::string& list = request.path[3];
  ItemsToAdd wanted = read_items_to_add(request.body);
  if (!wanted.create) check_exists(query, list);
  query.by = wanted.by;
  const store::RecordedReply reply =
      verbs::add_items(query, list, wanted.items.valid, wanted.allow_duplicates, once(request));
  check_once(reply);
  return written_json("list", list, "items", "item", wanted.items.valid, wanted.items.errors,
                      reply.results);
}

/// Returns the response of a change: {"result": …, NAME: the list, NAME: the item}.
std::string changed_json(const std::string& result, const char* of_list, const std::string& list,
                         const char* of_item, const std::string& item) {
  core::AsciiObject json;
  json.put("result", result);
  json.put_bytes(of_list, list);
  json.put_bytes(of_item, item);
  return json.finish();
}

std::string remove_item(QueryContext& query, const http::HttpRequest& request) {
  const std::string &list = request.path[3], &item = request.path[5];
  verbs::kind_of(query, list);  // throws if there is no such list
  const auto removed =
      verbs::write(query, [&] { return verbs::remove_items(query, list, {item}); });
  if (!removed.front().done)
    throw QueryError(404, escape_text(item) + ": " + removed.front().result);
  return changed_json(removed.front().result, "list", list, "item", item);
}

/// Concatenated IDs that w8yd has chosen for jobs. All have the same length.
class NewIds {
 public:
  [[nodiscard]] static std::string of(const std::vector<verbs::NewJob>& jobs) {
    std::string ids;
    for (const verbs::NewJob& job : jobs)
      if (job.is_new) ids += job.id;
    return ids;
  }
  /// Replaces the IDs that w8yd has chosen for a repeated request by those of the first request.
  static void put(const std::string& ids, std::vector<verbs::NewJob>& jobs) {
    std::size_t at = 0;
    for (verbs::NewJob& job : jobs) {
      if (!job.is_new || at >= ids.size()) continue;
      job.id = ids.substr(at, job.id.size());
      at += job.id.size();
    }
  }
};

std::string put_jobs(QueryContext& query, const http::HttpRequest& request) {
  const std::string& feed = request.path[3];
  JobsToPut wanted = read_jobs_to_put(request.body);
  std::vector<verbs::NewJob>& jobs = wanted.jobs.valid;
  verbs::check_feed_tag(query, feed);
  verbs::PutTerms terms{wanted.create || verbs::is_feed_of_config(query, feed), once(request)};
  terms.request.data = NewIds::of(jobs);
  const store::RecordedReply reply = verbs::write(query, [&] {
    return verbs::JobFeed({query.redis, query.cluster(), wanted.by}, feed).put(jobs, terms);
  });
  check_once(reply);
  if (reply.state == store::RecordedReply::State::again) NewIds::put(reply.data, jobs);
  std::vector<std::string> ids;
  for (verbs::NewJob& job : jobs) ids.push_back(std::move(job.id));
  return written_json("feed", feed, "jobs", "id", ids, wanted.jobs.errors, reply.results);
}

std::string retract_job(QueryContext& query, const http::HttpRequest& request) {
  const std::string &feed = request.path[3], &id = request.path[5];
  verbs::check_feed_tag(query, feed);
  const auto done = verbs::write(query, [&] {
    return verbs::JobFeed({query.redis, query.cluster(), query.by}, feed)
        .change(verbs::JobChange::retract, {id});
  });
  if (!done.front().done)
    throw QueryError(404, "there is no " + escape_text(id) + " in the feed " + escape_text(feed));
  return changed_json("retracted", "feed", feed, "id", id);
}

std::string retry_job(QueryContext& query, const http::HttpRequest& request) {
  static_cast<void>(body_of(request.body, {"by"}));
  const std::string &feed = request.path[3], &id = request.path[5];
  verbs::check_feed_tag(query, feed);
  verbs::JobFeed jobs({query.redis, query.cluster(), query.by}, feed);
  const auto done = verbs::write(query, [&] { return jobs.change(verbs::JobChange::retry, {id}); });
  if (done.front().done) return changed_json("queued again", "feed", feed, "id", id);
  if (jobs.find(id) == verbs::JobFeed::Whereabouts::gone)
    throw QueryError(404, "there is no " + escape_text(id) + " in the feed " + escape_text(feed));
  throw QueryError(conflict, "the job " + escape_text(id) + " is not stalled");
}

std::string set_schedule(QueryContext& query, const http::HttpRequest& request) {
  const std::string &name = request.path[3], &job = request.path[4];
  const ScheduleBody wanted = read_schedule_to_set(request.body);
  check_schedule(query, name);
  // The name of a schedule may be the key prefix of lists in the config.
  const bool known = query.lists != nullptr && query.lists->has_key_prefix(name);
  if (!wanted.create && !known) check_exists(query, name);
  const verbs::ScheduleSet set = verbs::set_schedule(query, name, job, wanted.schedule);
  core::AsciiObject json;
  json.put("result", "set");
  json.put_bytes("list", name);
  json.put_bytes("job", job);
  json.put_bytes("schedule", set.schedule);
  json.put_json("next_ms", core::json_array(set.next, [](WallTime time) {
                  return std::to_string(time.count());
                }));
  return json.finish();
}

std::string unset_schedule(QueryContext& query, const http::HttpRequest& request) {
  const std::string &name = request.path[3], &job = request.path[4];
  check_schedule(query, name);
  if (!verbs::unset_schedule(query, name, job))
    throw QueryError(404, "there is no job " + escape_text(job) + " in " + escape_text(name));
  return changed_json("unset", "list", name, "job", job);
}

}  // namespace

void add_producer_routes(const Routes& routes) {
  write_at(routes, endpoints::add_items, add_items);
  write_at(routes, endpoints::remove_item, remove_item);
  write_at(routes, endpoints::put_jobs, put_jobs);
  write_at(routes, endpoints::retract_job, retract_job);
  write_at(routes, endpoints::retry_job, retry_job);
  write_at(routes, endpoints::set_schedule, set_schedule);
  write_at(routes, endpoints::unset_schedule, unset_schedule);
  query_at(routes, endpoints::schedule_job, [](const http::HttpRequest& request) {
    return [name = request.path[3], job = request.path[4]](QueryContext& query) {
      check_schedule(query, name);
      return item_json(name, verbs::show_item(query, name, job));
    };
  });
}

}  // namespace w8y::api
