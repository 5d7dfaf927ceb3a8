#include "app/host_status.hpp"

namespace w8y::app {

namespace {

std::string program_text(const ListConfig& rule) {
  if (!rule.is_command()) return *rule.executor;
  std::string text;
  for (const auto& word : *rule.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

void add_runs(ListStatus& status, const Poller& poller) {
  poller.runs().each([&](const ActiveRun& run) {
    RunStatus shown;
    shown.run = run.claim.run;
    shown.item = run.claim.item;
    shown.pid = run.pid;
    shown.started = run.started_wall;
    shown.attempt = run.claim.attempt;
    shown.fence = run.claim.fence;
    shown.progress = run.progress;
    shown.state = run.stopping ? RunStatus::State::stopping : RunStatus::State::running;
    shown.lease_lost = run.lease_lost;
    status.runs.push_back(std::move(shown));
  });
  const std::vector<RunStatus> settling = poller.settling();
  status.settling.insert(status.settling.end(), settling.begin(), settling.end());
}

/// Adds the state of a list that this host serves, with its reason.
void describe_serving(ListStatus& status, const Poller& poller, WallTime now) {
  const ClaimEnd end = poller.last_claim();
  const bool working = status.running > 0;
  if (status.pause) {
    status.state = ListState::paused;
    status.why = pause_text(*status.pause, now);
  } else if (end == ClaimEnd::halted ||
             // The pause was not queried.
             (end == ClaimEnd::paused && !status.quarantined)) {
    status.state = ListState::paused;
    status.why = poller.detail();
  } else if (status.breaker || end == ClaimEnd::breaker) {
    status.state = ListState::breaker_open;
    status.why = status.breaker ? breaker_text(*status.breaker, now) : poller.detail();
  } else if (end == ClaimEnd::unavailable || end == ClaimEnd::refused) {
    status.state = ListState::unavailable;
    status.why = poller.detail();
  } else if (poller.shortage().any()) {
    status.state = ListState::starved;
    status.why = poller.shortage().reason();
  } else if (working) {
    status.state = ListState::running;
  } else if (poller.state() == PollerState::waiting || end == ClaimEnd::fleet_full) {
    status.state = ListState::full;
    status.why = end != ClaimEnd::fleet_full ? "host_concurrency is reached"
                 : poller.detail().empty()   ? "fleet_concurrency is reached"
                                             : poller.detail();
  } else {
    status.state = ListState::idle;
    status.why = end == ClaimEnd::empty ? "no items" : "no item is free";
  }
}

ListStatus list_status(const ServedList& list, const Supervisor& supervisor,
                       const ListStateSource& facts) {
  const bool quiet = supervisor.quiet();
  const ListConfig& rule = list.config();
  ListStatus status;
  status.prefix = rule.prefix;
  facts.add_to(status);
  status.program = program_text(rule);
  status.probed = rule.program();
  status.enabled = rule.enabled;
  status.caps = list.caps().caps;
  status.executor_version = list.caps().version;
  status.running = list.running();
  status.concurrency = rule.concurrency;
  status.fleet_concurrency = rule.fleet_concurrency;
  status.weight = rule.weight;
  status.overdue_after = rule.overdue_after();
  status.function = rule.function();
  status.queues = rule.queues();
  if (rule.traits().has_key_prefix) status.key_prefix = rule.bare_key_prefix();
  status.alert_failures = rule.alert_failures;
  status.counters = list.counters();
  if (list.poller() != nullptr) {
    status.last_error = list.poller()->last_problem();
    status.last_error_at = list.poller()->last_problem_at();
    add_runs(status, *list.poller());
  }
  for (const auto& poller : list.retired()) add_runs(status, *poller);

  switch (list.state()) {
    case ServingState::closing:
    case ServingState::closed:
      status.state = ListState::draining;
      break;
    case ServingState::ineligible:
      status.state = ListState::ineligible;
      status.why = list.refusal();
      break;
    case ServingState::probing:
      status.state = ListState::probing;
      break;
    case ServingState::serving:
      if (!rule.enabled || rule.concurrency == 0) {
        status.state = ListState::disabled;
        status.why = rule.enabled ? "concurrency = 0" : "enabled = false";
      } else if (quiet) {
        status.state = ListState::quiet;
      } else if (std::string hold = supervisor.hold(rule); !hold.empty()) {
        status.state = ListState::unavailable;
        status.why = std::move(hold);
      } else {
        describe_serving(status, *list.poller(), facts.now());
        status.poll_within = supervisor.max_poll_wait();
      }
  }
  return status;
}

}  // namespace

void fill_from(HostStatus& status, const Supervisor& supervisor, const Clock& clock) {
  status.now = clock.wall();
  status.config_hash = supervisor.config_hash();
  status.generation = supervisor.generation();
  status.slots_limit = supervisor.slots().limit();
  status.slots_used = supervisor.slots().used();
}

ListStatus status_of(const ServedList& list, const Supervisor& supervisor,
                     const ListStateSource& facts) {
  return list_status(list, supervisor, facts);
}

std::optional<ListStatus> find_list(const Supervisor& supervisor, const ListStateSource& facts,
                                    const std::string& prefix) {
  if (const auto found = supervisor.lists().find(prefix); found != supervisor.lists().end())
    return status_of(*found->second, supervisor, facts);
  for (const auto& list : supervisor.closing())
    if (list->running() > 0 && list->config().prefix == prefix)
      return status_of(*list, supervisor, facts);
  return std::nullopt;
}

}  // namespace w8y::app
