#include "store/thoonk/redis_job_care.hpp"

#include <algorithm>
#include <utility>

#include "store/rights.hpp"
#include "store/scripts.hpp"
#include "store/store_error.hpp"
#include "store/thoonk/job_take_call.hpp"
#include "store/thoonk/redis_job_queue.hpp"

namespace w8y::store::thoonk {

namespace {

/// Minimum and maximum delay between two steps. The delay is as long as the last step, so that
/// other clients get time.
constexpr Duration least_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);

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

/// Creates the feed, so that clients find one of the right type. The list needs no feed: an error,
/// such as a missing permission, is ignored, and claims report a feed of another type.
void RedisJobCare::create_feed() {
  if (std::exchange(feed_exists_, true)) return;
  const FeedKeys keys(rule_->prefix);
  const std::string client = session_->holder.lock({});
  session_->client.run(scripts::job_feed, {keys.config, feeds_key}, {keys.feed, client},
                       [this, alive = alive_](const redis::Answer& answer) {
                         if (*alive && answer.reply.text().starts_with("CROSSSLOT"))
                           create_feed_in_cluster();
                       });
}

/// In a cluster, the set of all names has another hash slot.
void RedisJobCare::create_feed_in_cluster() {
  const FeedKeys keys(rule_->prefix);
  const std::string client = session_->holder.lock({});
  session_->client.run(scripts::job_feed, {keys.config}, {keys.feed, client},
                       [this, alive = alive_, feed = keys.feed](const redis::Answer& answer) {
                         if (*alive && answer.reply.integer() == 1)
                           session_->client.call({"SADD", feeds_key, feed});
                       });
}

void RedisJobCare::recover() {
  create_feed();
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
  if (!call) return end({});
  const redis::Command keys(call->keys.begin(), call->keys.end());
  const redis::Command arguments(call->arguments.begin(), call->arguments.end());
  session_->client.run(
      call->script, keys, arguments,
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
  if (!maintenance_->next()) return end({});
  pause_.set(now + std::clamp<Duration>(now - sent, least_pause, longest_pause),
             [this] { step(); });
}

void RedisJobCare::end(const std::string& trouble) {
  const MaintenanceResult result = maintenance_->result();
  maintenance_.reset();
  handler_.on_maintained(result, trouble);
}

}  // namespace w8y::store::thoonk
