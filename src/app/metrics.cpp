#include "app/metrics.hpp"

#include <utility>
#include <variant>

#include "api/endpoints.hpp"
#include "loop/background.hpp"
#include "redis/traffic.hpp"

namespace w8y::app {

namespace {

/// Time for which a response is kept, so that many clients cost no more than one.
constexpr Duration kept_for = std::chrono::seconds(1);

bool has_run(const RunCounters& counters) {
  return counters.claimed + counters.succeeded + counters.failed + counters.crashed +
             counters.timed_out + counters.cancelled + counters.lost >
         0;
}

}  // namespace

Metrics::Metrics(const Parts& parts)
    : parts_(parts), walk_(parts.loop.clock(), parts.loop.timers(), parts.supervisor, *this) {}

Metrics::~Metrics() = default;

WallTime Metrics::now() const {
  return parts_.loop.clock().wall();
}

void Metrics::add_to(http::Router& router) {
  router.on(api::endpoints::metrics,
            [this](const http::HttpRequest&, const http::HttpReplyPtr& reply) { respond(reply); });
}

void Metrics::on_event(const Event& event) {
  if (const auto* reloaded = std::get_if<Reloaded>(&event)) {
    ++(reloaded->applied ? reloads_applied_ : reloads_failed_);
    last_reload_succeeded_ = reloaded->applied;
  }
}

void Metrics::respond(const http::HttpReplyPtr& reply) {
  if (text_ && parts_.loop.now() < updated_at_ + kept_for) {
    http::HttpResponse response;
    response.body = *text_;
    response.content_type = ops::metrics_type;
    return reply->send(std::move(response));
  }
  waiting_.push_back(reply);
  if (waiting_.size() == 1) begin();
}

// ---- collection

void Metrics::begin() {
  gathering_ = std::make_unique<ops::HostMetrics>();
  gathering_->lists.reserve(parts_.supervisor.lists().size());
  walk_.begin(
      [this](const ListStatus& status, const ServedList& list) { record_list(status, list); },
      [this] { gathered(); });
}

void Metrics::record_list(const ListStatus& status, const ServedList& list) {
  // A removed list may have a successor of the same name, whose metrics have the same labels.
  const auto served = parts_.supervisor.lists().find(status.prefix);
  if (served == parts_.supervisor.lists().end() || served->second.get() != &list) return;
  ops::HostMetrics& host = *gathering_;
  ops::ListMetrics& metrics = host.lists.emplace_back();
  metrics.prefix = status.prefix;
  metrics.state = status.state;
  host.settlements_waiting += list.unsettled();
  if (list.state() == ServingState::serving &&
      (!host.key_expiry || list.config().key_expiry < *host.key_expiry))
    host.key_expiry = list.config().key_expiry;
  const ListStats* stats = parts_.stats.find(status.prefix);
  const bool ran = list.has_run() && has_run(status.counters);
  if (!ran && stats == nullptr) return;
  metrics.living = std::make_unique<ops::ActiveListMetrics>();
  ops::ActiveListMetrics& living = *metrics.living;
  living.ran = ran;
  living.is_due_by_time = list.config().traits().is_due_by_time;
  living.running = status.running;
  living.counters = status.counters;
  living.overdue_after = status.overdue_after;
  if (stats != nullptr) living.stats = *stats;
  if (const auto measures = list.run_stats()) {
    living.run_stats = *measures;
    for (std::size_t i = 0; i < measures->not_started.size(); ++i)
      host.not_started[i] += measures->not_started[i];
  }
  living.left_out = parts_.log.left_out(status.prefix);
}

void Metrics::gathered() {
  const std::shared_ptr<ops::HostMetrics> host = std::move(gathering_);
  host->host = parts_.control.status();
  const redis::Traffic& traffic = redis::traffic();
  host->redis_answered = traffic.replied;
  host->redis_bytes_in = traffic.bytes_in;
  host->redis_bytes_out = traffic.bytes_out;
  host->redis_commands = traffic.commands;
  host->loop_lag = parts_.loop.lag();
  host->probes = parts_.factory.probes();
  host->reloads_applied = reloads_applied_;
  host->reloads_failed = reloads_failed_;
  host->last_reload_succeeded = last_reload_succeeded_;
  host->fleet = parts_.stats.fleet();
  const auto text = std::make_shared<std::string>();
  const auto work = [host, text] { *text = ops::metrics_text(*host); };
  const auto then = [this, alive = std::weak_ptr<bool>(alive_), text] {
    if (!alive.expired()) on_written(std::move(*text));
  };
  if (loop::in_background(parts_.loop, work, then)) return;
  work();
  then();
}

void Metrics::on_written(std::string&& text) {
  text_ = std::make_shared<const std::string>(std::move(text));
  updated_at_ = parts_.loop.now();
  for (const http::HttpReplyPtr& reply : std::exchange(waiting_, {})) respond(reply);
}

}  // namespace w8y::app
