#include "core/supervisor.hpp"

#include <algorithm>
#include <utility>

namespace w8y {

namespace {

/// Interval at which a draining host checks whether it has finished: runs end by events, but
/// pollers are deleted by a timer.
constexpr Duration drained_look = std::chrono::milliseconds(5);

/// Maximum number of lists that start in one loop iteration.
constexpr std::size_t opened_at_once = 256;

/// Returns whether the result of a probe of one list config is also valid for the other one.
bool same_probe(const ListConfig& a, const ListConfig& b) {
  if (&a == &b) return true;
  const ChildSettings& left = *a.child;
  const ChildSettings& right = *b.child;
  return a.executor == b.executor && a.args == b.args && a.command == b.command &&
         left.run_as == right.run_as && left.cwd == right.cwd && left.env_file == right.env_file &&
         left.rlimits == right.rlimits && left.nice == right.nice;
}

}  // namespace

/// A config that is being applied.
struct Supervisor::Pending {
  ConfigPtr config;
  unsigned serial = 0;  ///< results of probes for an earlier config are ignored
  bool new_sources = false;
  Applied applied;
  std::size_t unanswered = 0;
  std::map<std::string, ProbeResult> replies;
};

Supervisor::Supervisor(const SupervisorHost& host)
    : host_(host),
      slots_(host.clock, 0),
      idle_(host.timers, host.clock, RedisSettings{}.idle_commands, host.seed),
      list_host_{host.clock,
                 host.timers,
                 slots_,
                 idle_,
                 host.events,
                 host.factory,
                 [this](const ListConfigPtr& rule, const std::string& reason) {
                   record_missing_prerequisite(rule, reason);
                 }},
      open_timer_(host.timers),
      retry_timer_(host.timers),
      lack_timer_(host.timers),
      drain_timer_(host.timers),
      check_timer_(host.timers) {}

Supervisor::~Supervisor() = default;

void Supervisor::probe(const ListConfigPtr& rule, Prober::Answer answer) {
  host_.factory.prober().look_for(
      *rule, (pending_ ? pending_->config : config_)->supervisor.probe_timeout, std::move(answer));
}

// ---- reload: parse and check (the caller), probe, compare, apply

void Supervisor::apply(ConfigPtr config, bool new_sources, Applied applied) {
  if (state_ == SupervisorState::draining || state_ == SupervisorState::drained) return;
  state_ = SupervisorState::reloading;
  pending_ = std::make_unique<Pending>();
  pending_->config = std::move(config);
  pending_->new_sources = new_sources;
  pending_->applied = std::move(applied);
  pending_->serial = ++serial_;
  pending_->unanswered = 1;  // so that immediate results do not complete it early
  auto have = lists_.begin();
  for (const auto& [prefix, rule] : pending_->config->lists) {
    while (have != lists_.end() && have->first < prefix) ++have;
    if (have != lists_.end() && have->first == prefix &&
        have->second->state() == ServingState::serving && same_probe(have->second->config(), *rule))
      continue;
    ++pending_->unanswered;
    probe(rule, [this, name = prefix, serial = serial_](ProbeResult&& answer) {
      if (!pending_ || pending_->serial != serial) return;
      pending_->replies.insert_or_assign(name, std::move(answer));
      probed();
    });
  }
  probed();
}

void Supervisor::probed() {
  if (--pending_->unanswered == 0 && state_ == SupervisorState::reloading) commit();
}

/// Applies the pending config. Only this function and decide() change the set of lists. An
/// unchanged list costs almost nothing.
void Supervisor::commit() {
  const std::unique_ptr<Pending> pending = std::move(pending_);
  const ReloadPlan plan = plan_reload(*config_, *pending->config);
  const std::vector<std::string> changed = differing_lists(*config_, *pending->config);
  config_ = std::move(pending->config);
  ++generation_;
  state_ = SupervisorState::running;
  slots_.set_limit(config_->supervisor.host_concurrency);
  idle_.set_budget(config_->redis.idle_commands);

  close_missing();
  for (const auto& [prefix, answer] : pending->replies) decide(prefix, &answer);
  for (const std::string& prefix : changed)
    if (!pending->replies.contains(prefix)) decide(prefix, nullptr);
  if (pending->new_sources)
    for (const auto& [prefix, list] : lists_) list->renew();
  open_some();
  arm_retry();
  pending->applied(plan);
}

void Supervisor::close_missing() {
  std::vector<std::unique_ptr<ServedList>> missing;
  for (auto next = lists_.begin(); next != lists_.end();) {
    const auto here = next++;
    if (config_->lists.contains(here->first)) continue;
    missing.push_back(std::move(here->second));
    lists_.erase(here);
  }
  for (auto& list : missing) {
    list->close();
    closing_.push_back(std::move(list));
  }
  for (auto& list : closing_) {
    // It is in the config again although a run has not ended: such runs count towards its limit.
    const auto back = config_->lists.find(list->config().prefix);
    if (back == config_->lists.end() || list->state() != ServingState::closing) continue;
    list->reopen(quiet_, !hold(*back->second).empty());
    lists_.emplace(back->first, std::move(list));
  }
  std::erase_if(closing_, [](const auto& list) {
    return list == nullptr || list->state() == ServingState::closed;
  });
}

/// Starts new lists in batches after all were created. Thousands of first claims at once would
/// block the loop and Redis, and would fragment memory.
void Supervisor::open_some() {
  for (std::size_t i = 0; i < opened_at_once && !opening_.empty(); ++i) {
    const auto list = lists_.find(opening_.front());
    if (list != lists_.end()) list->second->set_quiet(quiet_);
    opening_.pop_front();
  }
  if (!opening_.empty()) open_timer_.set(host_.clock.now(), [this] { open_some(); });
}

/// `answer` is nullptr if the last result is still valid for the program, and only its settings
/// have changed.
void Supervisor::decide(const std::string& prefix, const ProbeResult* answer) {
  const ListConfigPtr& rule = config_->lists.at(prefix);
  const auto found = lists_.find(prefix);
  const bool held = !hold(*rule).empty();
  if (found == lists_.end()) {
    ServedList& made =
        *lists_.emplace(prefix, std::make_unique<ServedList>(list_host_, rule)).first->second;
    made.set_quiet(true);  // until open_some()
    made.set_held(held);
    opening_.push_back(prefix);
    return made.decide(rule, answer != nullptr ? *answer : ProbeResult(made.caps()));
  }
  ServedList& list = *found->second;
  // A list config of another kind of work may end the hold, but only after its source was replaced.
  if (held) list.set_held(true);
  list.decide(rule, answer != nullptr ? *answer : ProbeResult(list.caps()));
  list.set_held(held);
}

// ---- ineligible lists are probed again

void Supervisor::arm_retry() {
  const bool any = std::any_of(lists_.begin(), lists_.end(), [](const auto& list) {
    return list.second->state() == ServingState::ineligible;
  });
  const Duration interval = config_->supervisor.probe_interval;
  if (!any || interval <= Duration{0}) {
    retry_timer_.cancel();
  } else if (!retry_timer_.pending()) {
    retry_timer_.set(host_.clock.now() + interval, [this] { retry_refused(); });
  }
}

void Supervisor::retry_refused() {
  for (const auto& [prefix, list] : lists_)
    if (list->state() == ServingState::ineligible) probe_again(prefix);
  arm_retry();
}

/// Handles a run that could not be started: a prerequisite is missing since the probe, or the probe
/// cannot detect the error. The list is probed again at the usual interval. An immediate probe that
/// finds no error would lead to failed starts in a loop.
void Supervisor::record_missing_prerequisite(const ListConfigPtr& rule, const std::string& reason) {
  lacking_.emplace(rule, reason);
  if (!lack_timer_.pending())
    lack_timer_.set(host_.clock.now(), [this] { refuse_without_prerequisites(); });
}

void Supervisor::refuse_without_prerequisites() {
  for (const auto& [rule, reason] : std::exchange(lacking_, {})) {
    const auto list = lists_.find(rule->prefix);
    // A reload may have set another list config meanwhile.
    if (list == lists_.end() || list->second->shared_config() != rule) continue;
    list->second->refuse(Ineligibility{reason, true});
  }
  arm_retry();
}

void Supervisor::probe_again(const std::string& prefix) {
  const auto rule = config_->lists.at(prefix);
  probe(rule, [this, prefix, rule](ProbeResult&& answer) {
    const auto list = lists_.find(prefix);
    // A reload may have happened meanwhile: its own probe has decided.
    if (list == lists_.end() || state_ != SupervisorState::running ||
        !same_probe(list->second->config(), *rule))
      return;
    list->second->decide(config_->lists.at(prefix), answer);
    arm_retry();
  });
}

// ---- quiet, cancel, drain

void Supervisor::set_quiet(bool quiet) {
  if (std::exchange(quiet_, quiet) == quiet) return;
  for (const auto& [prefix, list] : lists_) list->set_quiet(quiet);
}

void Supervisor::set_hold(const std::string& reason) {
  hold_ = reason;
  for (const auto& [prefix, list] : lists_) list->set_held(!hold(list->config()).empty());
}

/// Work outside Redis has no keys that a host with another format could misread.
std::string Supervisor::hold(const ListConfig& rule) const {
  return rule.traits().in_redis ? hold_ : std::string();
}

bool Supervisor::cancel(const RunId& run) {
  for (const auto& [prefix, list] : lists_)
    if (list->cancel(run)) return true;
  return std::any_of(closing_.begin(), closing_.end(),
                     [&](const auto& list) { return list->cancel(run); });
}

void Supervisor::run_item(const std::string& prefix, const Item& item,
                          const Poller::RunItemDone& then) {
  const auto found = lists_.find(prefix);
  if (found != lists_.end()) return found->second->run_item(item, then);
  then({RunItemResult::Result::not_on_this_host, {}, "this host has no such list in its config"});
}

std::size_t Supervisor::running() const {
  std::size_t runs = 0;
  for (const auto& [prefix, list] : lists_) runs += list->running();
  for (const auto& list : closing_) runs += list->running();
  return runs;
}

/// A claim may wait while replies to other claims arrive. A list that has sent another claim has
/// had its reply.
Duration Supervisor::claims_unanswered_for() const {
  bool out = false;
  Instant newest{};
  const auto look = [&](const Poller& poller) {
    out = out || poller.claim_is_out();
    newest = std::max(newest, poller.last_claim_at());
  };
  for (const auto& [prefix, list] : lists_) {
    if (list->poller() != nullptr) look(*list->poller());
    for (const auto& poller : list->retired()) look(*poller);
  }
  return out ? host_.clock.now() - newest : Duration(0);
}

void Supervisor::drain(std::function<void()> drained) {
  const auto each = [this](const auto& act) {
    for (const auto& [prefix, list] : lists_) act(*list);
    for (const auto& list : closing_) act(*list);
  };
  const auto stop = [each] {
    each([](ServedList& list) { list.stop_runs(StopReason::shutdown); });
  };
  switch (++drain_calls_) {
    case 1:
      pending_.reset();
      opening_.clear();
      retry_timer_.cancel();
      state_ = SupervisorState::draining;
      drained_ = std::move(drained);
      idle_since_ = host_.clock.now();
      each([](ServedList& list) { list.close(); });
      drain_timer_.set(host_.clock.now() + config_->supervisor.drain_timeout, stop);
      check_drained();
      break;
    case 2:
      drain_timer_.cancel();
      stop();
      break;
    default:
      each([](ServedList& list) { list.kill_runs(StopReason::shutdown); });
  }
}

void Supervisor::check_drained() {
  const auto closed = [](const ServedList& list) { return list.state() == ServingState::closed; };
  const bool all_closed =
      std::all_of(lists_.begin(), lists_.end(), [&](const auto& l) { return closed(*l.second); }) &&
      std::all_of(closing_.begin(), closing_.end(), [&](const auto& l) { return closed(*l); });
  // Settlements wait for Redis, but a host that must exit cannot wait without limit: their locks
  // expire.
  const Instant now = host_.clock.now();
  if (running() > 0) idle_since_ = now;
  const bool done = all_closed || now - idle_since_ > config_->redis.command_timeout;
  check_timer_.set(now + drained_look, [this, done] {
    if (!done) return check_drained();
    state_ = SupervisorState::drained;
    drain_timer_.cancel();
    drained_();
  });
}

}  // namespace w8y
