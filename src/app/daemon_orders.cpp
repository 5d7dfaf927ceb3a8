// What a host is told to do, by signal or by the API; and how it ends.
#include <csignal>
#include <limits>
#include <utility>

#include <w8y/units.hpp>

#include "app/daemon.hpp"

namespace w8y::app {

namespace {

const ActiveRun* find_run(const ServedList& list, const RunId& run) {
  const ActiveRun* found = list.poller() == nullptr ? nullptr : list.poller()->runs().find(run);
  for (const auto& poller : list.retired())
    if (found == nullptr) found = poller->runs().find(run);
  return found;
}

/// What cancelling does to a run, for who has asked for it.
std::string how_it_ends(const Supervisor& supervisor, const RunId& run) {
  const ActiveRun* found = nullptr;
  for (const auto& [prefix, list] : supervisor.lists())
    if (found == nullptr) found = find_run(*list, run);
  for (const auto& list : supervisor.closing())
    if (found == nullptr) found = find_run(*list, run);
  if (found == nullptr) return {};
  const std::string grace = format_duration(found->rule->kill_grace);
  // Only a process that takes many runs has a limit of them.
  if (found->executor->capacity() != std::numeric_limits<std::size_t>::max())
    return "asked the process of run " + run +
           " to cancel it; the process is ended if it has not in " + grace;
  return "sent SIGTERM to run " + run + "; SIGKILL in " + grace;
}

}  // namespace

void Daemon::watch_signals() {
  signal(SIGPIPE, SIG_IGN);
  const auto on = [this](int number, std::function<void()> act) {
    signals_.push_back(
        std::make_unique<loop::SignalWatch>(loop_, number, [act = std::move(act)](int) { act(); }));
  };
  on(SIGUSR2, [this] { reload({}); });
  on(SIGTERM, [this] { begin_drain("SIGTERM"); });
  on(SIGINT, [this] { begin_drain("SIGINT"); });
  on(SIGUSR1, [this] { quiet(); });
  on(SIGCONT, [this] { resume(); });
  on(SIGHUP, [this] { log_.reopen(); });
}

ops::ControlResult Daemon::quiet() {
  if (draining_) return {ops::ControlResult::Kind::refused, "this host is draining", {}, {}};
  quiet_ = true;
  supervisor_.set_quiet(true);
  notify_.status("quiet");
  events_.on_event(HostChanged{HostState::quiet, {}});
  return {
      ops::ControlResult::Kind::done, "this host begins no new runs until w8yctl resume", {}, {}};
}

ops::ControlResult Daemon::resume() {
  if (draining_) return {ops::ControlResult::Kind::refused, "this host is draining", {}, {}};
  if (!quiet_) return {ops::ControlResult::Kind::done, "this host was not quiet", {}, {}};
  quiet_ = false;
  supervisor_.set_quiet(redis_state_ == RedisState::too_old);
  notify_.status("running");
  events_.on_event(HostChanged{HostState::running, {}});
  return {ops::ControlResult::Kind::done, "this host begins new runs again", {}, {}};
}

ops::ControlResult Daemon::drain() {
  begin_drain("an order");
  return {ops::ControlResult::Kind::accepted, "draining", {}, {}};
}

ops::ControlResult Daemon::cancel(const RunId& run) {
  const std::string how = how_it_ends(supervisor_, run);
  if (!supervisor_.cancel(run))
    return {ops::ControlResult::Kind::not_found, "this host has no such run", {}, {}};
  events_.on_event(RunCancelled{run});
  return {ops::ControlResult::Kind::done, how, {}, run};
}

void Daemon::run_item(const std::string&, const Item&, Answer answer) {
  answer({ops::ControlResult::Kind::refused, "this version can't run an item on demand", {}, {}});
}

void Daemon::begin_drain(const char* why) {
  const std::size_t running = supervisor_.running();
  switch (++drain_orders_) {
    case 1:
      notify_.stopping("draining");
      events_.on_event(HostChanged{HostState::draining, why, running});
      break;
    case 2:
      events_.on_event(RunsSignalled{false, std::string(why) + " again", running});
      break;
    default:
      events_.on_event(RunsSignalled{true, std::string(why) + " once more", running});
  }
  draining_ = true;
  swap_.cancel();
  end_reload();
  if (drained_) return retiring_streams_.kill_all();
  supervisor_.drain([this] { drained(); });
}

void Daemon::drained() {
  drained_ = true;
  retiring_streams_.when_none([this] { end(); });
}

void Daemon::end() {
  if (const std::size_t killed = orphans_.kill_all(); killed > 0)
    log_.info("killed what runs had left behind", {{"processes", killed}});
  if (embedded_) {
    link_->watch.reset();  // its end is no trouble now
    embedded_->stop();
  } else {
    loop_.stop();
  }
}

}  // namespace w8y::app
