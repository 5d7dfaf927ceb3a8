#include "api/job_endpoint.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/endpoints.hpp"
#include "api/parameters.hpp"
#include "api/producer_write.hpp"
#include "api/query_at.hpp"
#include "core/escape.hpp"
#include "core/json_object.hpp"
#include "core/units.hpp"
#include "operator/job_feeds.hpp"
#include "operator/lists.hpp"

namespace w8y::api {

namespace {

constexpr Duration max_wait = std::chrono::seconds(60);
constexpr Duration first_pause = std::chrono::milliseconds(10);
constexpr Duration longest_pause = std::chrono::milliseconds(250);

Duration wait_of(const http::HttpRequest& request) {
  const auto text = request.parameter("wait");
  if (!text) return Duration{0};
  const auto wait = parse_duration(*text);
  if (wait && *wait >= Duration{0} && *wait <= max_wait) return *wait;
  throw verbs::QueryError(
      bad_request,
      "?wait= must be a duration of at most 60s, such as 30s, not " + escape_text(*text));
}

/// Reads a job, or its kept result.
verbs::FeedJobState read_state(verbs::QueryContext& query, const std::string& feed,
                               const std::string& id) {
  verbs::check_feed_tag(query, feed);
  verbs::JobFeed jobs({query.redis, query.cluster()}, feed);
  auto state = jobs.state(id);
  if (state) return std::move(*state);
  throw verbs::QueryError(404, "there is no job " + escape_text(id) + " in the feed " +
                                   escape_text(feed) + ", and no kept result of it");
}

bool has_ended(const verbs::FeedJobState& state) {
  return state.state == "finished" || state.state == "stalled";
}

void put_ms(core::JsonObject& json, const char* name, const std::optional<WallTime>& time) {
  if (time) json.put(name, time->count());
}

std::string to_json(const std::string& feed, const std::string& id,
                    const verbs::FeedJobState& state) {
  core::AsciiObject json(1024);
  json.put_bytes("feed", feed);
  json.put_bytes("id", id);
  json.put("state", state.state);
  if (state.job) {
    json.put("failures", state.job->failures);
    if (state.job->queue_position > 0) json.put("position", state.job->queue_position);
    put_ms(json, "since_ms", state.job->since);
    put_ms(json, "until_ms", state.job->until);
    if (!state.job->host.empty()) json.put_bytes("host", state.job->host);
    if (!state.job->run.empty()) json.put_bytes("run", state.job->run);
  }
  if (!state.end) return json.finish();
  const verbs::KeptResult& end = *state.end;
  if (!end.run.empty()) json.put_bytes("run", end.run);
  if (end.time > WallTime{0}) json.put("time_ms", end.time.count());
  if (end.result) json.put_bytes("result", *end.result);
  if (end.truncated) json.put("result_truncated", true);
  if (!end.reason.empty()) json.put_bytes("reason", end.reason);
  return json.finish();
}

}  // namespace

void JobEndpoint::add_to(http::Router& router) {
  router.on(endpoints::job, refusing(std::bind_front(&JobEndpoint::query, this)));
}

void JobEndpoint::query(const http::HttpRequest& request, const http::HttpReplyPtr& reply) {
  const Duration wait = wait_of(request);
  if (wait > Duration{0} && !reply->hold_stream()) return;
  show(std::make_shared<Wait>(
      Wait{request.path[3], request.path[5], reply, loop_.now() + wait, first_pause, {}}));
}

/// Reads the job, and responds if it has ended or the time is up. Otherwise the client waits.
void JobEndpoint::show(WaitPtr wait) {
  const auto ended = std::make_shared<bool>(true);
  const bool trusted = wait->reply->trusted();
  queries_.run(
      [wait, ended](verbs::QueryContext& query) {
        return feed_response([&] {
          const verbs::FeedJobState state = read_state(query, wait->feed, wait->id);
          *ended = has_ended(state);
          return to_json(wait->feed, wait->id, state);
        });
      },
      [this, alive = std::weak_ptr<bool>(alive_), wait, ended](http::HttpResponse response) {
        if (alive.expired()) return;
        const Instant now = loop_.now();
        if (response.status != 200 || *ended || now >= wait->end)
          return wait->reply->send(with_retry(std::move(response), false));
        wait->due = now + wait->pause;
        waits_.push_back(wait);
        arm();
      },
      trusted);
}

void JobEndpoint::arm() {
  if (out_ || waits_.empty()) return;
  const auto first = std::min_element(waits_.begin(), waits_.end(),
                                      [](const auto& a, const auto& b) { return a->due < b->due; });
  next_.set((*first)->due, [this] { examine(); });
}

/// Examines all jobs that are due, in one query.
void JobEndpoint::examine() {
  const auto examined = std::make_shared<Examined>();
  const Instant now = loop_.now();
  for (const WaitPtr& wait : waits_)
    if (wait->due <= now) examined->waits.push_back(wait);
  out_ = true;
  queries_.run(
      [examined](verbs::QueryContext& query) {
        for (const WaitPtr& wait : examined->waits) {
          verbs::JobFeed jobs({query.redis, query.cluster()}, wait->feed);
          examined->ended.push_back(jobs.find(wait->id) != verbs::JobFeed::Whereabouts::there);
        }
        return http::HttpResponse{};
      },
      [this, alive = std::weak_ptr<bool>(alive_), examined](const http::HttpResponse& response) {
        if (!alive.expired()) handle_examined(*examined, response.status == 200);
      },
      true);
}

/// `is_known`: false if Redis is unavailable. Then the clients wait until their time is up.
void JobEndpoint::handle_examined(const Examined& examined, bool is_known) {
  out_ = false;
  const Instant now = loop_.now();
  for (std::size_t i = 0; i < examined.waits.size(); ++i) {
    const WaitPtr& wait = examined.waits[i];
    wait->pause = std::min(2 * wait->pause, longest_pause);
    wait->due = std::min(now + wait->pause, std::max(wait->end, now));
    if (now < wait->end && !(is_known && examined.ended[i])) continue;
    waits_.remove(wait);
    show(wait);
  }
  arm();
}

}  // namespace w8y::api
