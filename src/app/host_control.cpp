#include "app/host_control.hpp"

#include <limits>

#include "app/host_status.hpp"
#include "core/units.hpp"

namespace w8y::app {

namespace {

using Kind = api::CommandResult::Kind;

/// Timeout of a count of items.
constexpr Duration count_timeout = std::chrono::seconds(1);

/// Timeout of a claim, which ends after a small number of command_timeout, whatever Redis does.
constexpr Duration claims_timeout = std::chrono::minutes(2);

const ActiveRun* find_run(const ServedList& list, const RunId& run) {
  const ActiveRun* found = list.poller() == nullptr ? nullptr : list.poller()->runs().find(run);
  for (const auto& poller : list.retired())
    if (found == nullptr) found = poller->runs().find(run);
  return found;
}

const ActiveRun* find_run(const Supervisor& supervisor, const RunId& run) {
  const ActiveRun* found = nullptr;
  for (const auto& [prefix, list] : supervisor.lists())
    if (found == nullptr) found = find_run(*list, run);
  for (const auto& list : supervisor.closing())
    if (found == nullptr) found = find_run(*list, run);
  return found;
}

/// Describes the effect of cancelling a run, for the operator.
std::string how_it_ends(const Supervisor& supervisor, const RunId& run) {
  const ActiveRun* found = find_run(supervisor, run);
  if (found == nullptr) return {};
  const std::string grace = format_duration(found->rule->kill_grace);
  // Only a process for several runs has a limit for them.
  if (found->executor->capacity() != std::numeric_limits<std::size_t>::max())
    return "sent a cancel request to the process of run " + run +
           "; SIGTERM if the run has not ended in " + grace;
  return "sent SIGTERM to run " + run + "; SIGKILL in " + grace;
}

}  // namespace

HostControl::HostControl(ControlledHost host)
    : host_(std::move(host)),
      started_(host_.loop.clock().wall()),
      survey_(host_.loop, host_.stats, host_.hour),
      list_walks_(host_.loop.clock(), host_.loop.timers(), host_.supervisor, survey_) {}

void HostControl::refresh(std::function<void()> then) {
  survey_.refresh(host_.redis.session(), host_.supervisor, std::move(then));
}

void HostControl::count_items(const std::string& prefix,
                              std::function<void(const std::optional<ListStats>&)> then) {
  const auto list = host_.supervisor.lists().find(prefix);
  const bool countable =
      list != host_.supervisor.lists().end() && list->second->config().traits().is_counted_fast;
  if (!countable || !host_.redis.session()->client.connected()) return then(std::nullopt);
  std::erase_if(counts_, [](const auto& count) { return !count->then; });
  Count& count = *counts_.emplace_back(std::make_unique<Count>(host_.loop.timers()));
  count.then = std::move(then);
  const auto end = [&count] {
    if (count.then) std::exchange(count.then, {})(count.stats);
  };
  const bool cluster = host_.redis.options().url.kind == redis::Url::Kind::cluster;
  count.reader.emplace(host_.loop, host_.redis.session(), cluster,
                       [&count](const ListConfigPtr&, const std::optional<ListStats>& stats) {
                         count.stats = stats;
                       });
  count.timeout.set(host_.loop.now() + count_timeout, end);
  count.reader->begin(
      {list->second->shared_config()}, [this] { return host_.loop.clock().wall(); }, end);
}

HostStatus HostControl::status() const {
  HostStatus status;
  status.host = host_.redis.host();
  status.host_id = host_.id;
  status.pid = host_.pid;
  status.version = W8Y_VERSION;
  status.started = started_;
  status.state = host_.mode.state();
  const Reload::Result& reload = host_.reload.last();
  status.last_reload = reload.text;
  status.last_reload_at = reload.at;
  status.last_reload_failed = reload.failed;
  status.has_redis = host_.redis.exists();
  status.format_conflict = host_.mode.format_conflict();
  status.redis = host_.redis.status();
  status.gearman = host_.gearman.status();
  fill_from(status, host_.supervisor, host_.loop.clock());
  return status;
}

ConfigText HostControl::config_text(const std::string* list) const {
  const Config& config = host_.config();
  if (list == nullptr) return describe(config);
  ConfigText text{
      describe_redis(config), describe(config.gearman), describe(config.supervisor), {}};
  if (const auto found = config.lists.find(*list); found != config.lists.end())
    text.lists.emplace(found->first, describe(*found->second));
  return text;
}

std::string HostControl::stuck() const {
  if (host_.redis.session()->leases.overdue(host_.loop.now())) return "lease renewals are overdue";
  const Duration silent = host_.supervisor.claims_unanswered_for();
  if (silent < claims_timeout) return {};
  return "Redis has not replied to claims for " +
         format_duration(std::chrono::floor<std::chrono::seconds>(silent));
}

std::optional<ListStatus> HostControl::list(const std::string& prefix) const {
  return find_list(host_.supervisor, survey_, prefix);
}

api::CommandResult HostControl::drain() {
  host_.drain.order("a command");
  return {Kind::accepted, "draining", {}, {}};
}

api::CommandResult HostControl::cancel(const RunId& run) {
  const std::string how = how_it_ends(host_.supervisor, run);
  if (!host_.supervisor.cancel(run)) return {Kind::not_found, "this host has no such run", {}, {}};
  host_.events.on_event(RunCancelled{run});
  return {Kind::done, how, {}, run};
}

std::string HostControl::tail(const RunId& run) const {
  const ActiveRun* found = find_run(host_.supervisor, run);
  return found == nullptr ? std::string() : found->executor->tail(run);
}

void HostControl::run_item(const std::string& prefix, const Item& item, Answer answer) {
  if (!host_.supervisor.lists().contains(prefix))
    return answer({Kind::not_found, "this host has no such list in its config", {}, {}});
  host_.supervisor.run_item(prefix, item, [answer = std::move(answer)](const RunItemResult& run) {
    switch (run.result) {
      case RunItemResult::Result::started:
        return answer({Kind::done, "run " + run.run + " started", {}, run.run});
      case RunItemResult::Result::refused:
        return answer({Kind::refused, run.why, {}, {}});
      case RunItemResult::Result::not_on_this_host:
        return answer({Kind::unavailable, run.why, {}, {}});
    }
  });
}

}  // namespace w8y::app
