#include "store/thoonk/redis_job_care.hpp"

#include <algorithm>
#include <utility>

#include "core/escape.hpp"
#include "core/job_settings.hpp"
#include "core/json_object.hpp"
#include "store/rights.hpp"
#include "store/scripts.hpp"
#include "store/store_error.hpp"
#include "store/thoonk/job_claims.hpp"
#include "store/thoonk/redis_job_queue.hpp"

namespace w8y::store::thoonk {

namespace {

/// Minimum and maximum delay between two steps. The delay is as long as the last step, so that
/// other clients get time.
constexpr Duration least_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);
/// Items of a feed of statistics that w8yd creates: those of 16 hours with the default
/// `maintenance_interval`.
constexpr const char* kept_statistics = "1000";
/// Old items that a call drops.
constexpr const char* dropped_at_once = "1000";

/// Returns an item of a feed of statistics.
std::string statistics_text(const std::string& list, const MaintenanceResult& result) {
  core::JsonObject json;
  json.put_bytes("list", list);
  json.put("time_ms", static_cast<std::int64_t>(result.counts.at.count()));
  json.put("queued", result.counts.queued);
  json.put("claimed", result.counts.claimed);
  json.put("stalled", result.counts.stalled);
  json.put("recovered", result.taken_back);
  json.put("orphaned", result.put_back + result.nowhere);
  return json.finish();
}

}  // namespace

RedisJobCare::RedisJobCare(std::shared_ptr<RedisSession> session, JobCareHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      handler_(handler),
      recovery_(*session_),
      pause_(session_->timers),
      alive_(std::make_shared<bool>(true)) {}

RedisJobCare::~RedisJobCare() {
  *alive_ = false;
}

void RedisJobCare::use(ListConfigPtr rule) {
  if (rule_ && rule_->prefix != rule->prefix) feed_exists_ = false;
  rule_ = std::move(rule);
}

/// Creates a feed for w8yd, unless one of that name exists. An error, such as a missing permission,
/// is ignored: the first use of the feed reports it.
void RedisJobCare::create_feed(const std::string& name, const char* kind, const char* max_length) {
  const FeedKeys keys(name);
  const std::string client = session_->holder.lock({});
  const redis::Command arguments = {keys.feed, kind, max_length, client, "1"};
  session_->client.run(scripts::feed_create, {keys.config, feeds_key}, arguments,
                       [this, alive = alive_, name, kind, max_length](const redis::Answer& answer) {
                         if (*alive && answer.reply.text().starts_with("CROSSSLOT"))
                           create_feed_in_cluster(name, kind, max_length);
                       });
}

/// In a cluster, the set of all names has another hash slot.
void RedisJobCare::create_feed_in_cluster(const std::string& name, const char* kind,
                                          const char* max_length) {
  const FeedKeys keys(name);
  const std::string client = session_->holder.lock({});
  session_->client.run(scripts::feed_create, {keys.config},
                       {keys.feed, kind, max_length, client, "1"},
                       [this, alive = alive_, name](const redis::Answer& answer) {
                         if (*alive && answer.reply.integer() == 1)
                           session_->client.call({"SADD", feeds_key, name});
                       });
}

void RedisJobCare::recover() {
  // The list needs no feed. It is created so that clients find it with the right type.
  if (!std::exchange(feed_exists_, true)) create_feed(rule_->prefix, "job", "");
  recovery_.look(
      recover_call(FeedKeys(rule_->prefix), *rule_),
      [this](std::size_t, std::optional<Duration> next) { handler_.on_recovered(next); });
}

void RedisJobCare::maintain() {
  maintenance_.emplace(FeedKeys(rule_->prefix),
                       maintenance_terms(*rule_, session_->holder.lock({})));
  step();
}

void RedisJobCare::step() {
  const auto call = maintenance_->next();
  if (!call) return complete();
  call->run(session_->client,
            [this, alive = alive_, sent = session_->clock.now()](const redis::Answer& answer) {
              if (*alive) stepped(answer, sent);
            });
}

void RedisJobCare::stepped(const redis::Answer& answer, Instant sent) {
  if (const auto trouble = trouble_of(answer))
    return end(trouble->about_keys()
                   ? why_refused(with_remedy(trouble->why, session_->user), rule_->prefix)
                   : std::string());
  maintenance_->answered(redis::ReplyCopy(answer.reply));
  const Instant now = session_->clock.now();
  if (!maintenance_->next()) return complete();
  pause_.set(now + std::clamp<Duration>(now - sent, least_pause, longest_pause),
             [this] { step(); });
}

/// Publishes the numbers of a pass that this host has completed.
void RedisJobCare::complete() {
  const std::string feed = rule_->job().maintenance_feed;
  const MaintenanceResult& result = maintenance_->result();
  if (feed.empty() || result.counts.at == WallTime{0}) return end({});
  const FeedKeys keys(feed);
  const std::string id =
      std::to_string(result.counts.at.count()) + "-" + escape_text(rule_->prefix);
  const std::string text = statistics_text(rule_->prefix, result);
  create_feed(feed, "feed", kept_statistics);
  session_->client.run(scripts::feed_publish, {keys.config, keys.ids, keys.items, keys.publishes},
                       {keys.feed, keys.publish_channel, keys.edit_channel, keys.retract_channel,
                        dropped_at_once, id, text},
                       [this, alive = alive_, feed](const redis::Answer& answer) {
                         if (!*alive) return;
                         const auto trouble = trouble_of(answer);
                         end(trouble && trouble->about_keys()
                                 ? why_refused(with_remedy(trouble->why, session_->user), feed,
                                               "maintenance_feed", "feed")
                                 : std::string());
                       });
}

void RedisJobCare::end(const std::string& trouble) {
  const MaintenanceResult result = maintenance_->result();
  maintenance_.reset();
  handler_.on_maintained(result, trouble);
}

}  // namespace w8y::store::thoonk
