#include "simulation/gearman_scenario.hpp"

#include <algorithm>

#include "core/gearman_settings.hpp"
#include "simulation/gearman_others.hpp"

namespace w8y::sim {

namespace {

using namespace std::chrono_literals;
using GearmanFault = Fault::Kind;

const std::vector<std::string> gearman_functions{"grind", "sift"};
/// Clients submit no job while this number is queued.
constexpr std::size_t max_waiting = 40;
constexpr Duration gearman_check_pause = 1s;
/// Maximum time of a job in the queue while a host has had a free slot for as long.
constexpr Duration max_wait_for_host = 8s;
/// Maximum time after the last fault until connections match the config.
constexpr Duration recovery_of_lines = 20s;
constexpr Duration window_of_packets = 10s;
/// Packets of an idle worker: an ECHO_REQ in 10 s on each of two connections, and the first packets
/// of a connection.
constexpr std::uint64_t packets_at_rest = 20;
/// Packets for one job: the worker is woken, requests a job and sleeps again; or it gets the job,
/// sends the result and requests the next one.
constexpr std::uint64_t packets_of_job = 10;

}  // namespace

GearmanScene::GearmanScene(const GearmanContext& place, Random random)
    : place_(place),
      random_(random.fork(1)),
      first_(place.world, "gearman1"),
      second_(place.world, "gearman2") {
  auto watch = std::make_unique<GearmanWatch>(place_.promises, gearman_name);
  watch_ = watch.get();
  watch_->concurrency_of = [this](const std::string& name) -> std::size_t {
    const Supervisor* supervisor = host(name).supervisor();
    if (supervisor == nullptr) return 0;
    const auto found = supervisor->lists().find(gearman_name);
    return found == supervisor->lists().end() ? 0 : found->second->config().concurrency;
  };
  place_.promises.add(std::move(watch));
  for (Gearmand* each : {&first_, &second_}) {
    each->watcher = watch_;
    place_.network.add(*each);
  }
  auto& manner = place_.children.manners[gearman_name];
  manner.failing = static_cast<unsigned>(random_.one_of<int>({0, 5, 30}));
  manner.stubborn = static_cast<unsigned>(random_.one_of<int>({0, 10}));
  manner.telling = static_cast<unsigned>(random_.one_of<int>({0, 30}));
  manner.longest = random_.one_of<Duration>({20ms, 500ms, 4s});
  manner.shortest = manner.longest / 8;
  put_pause_ = random_.one_of<Duration>({100ms, 400ms, 1500ms});
  place_.world.after(1s, [this] { put_jobs(); });
  place_.world.after(gearman_check_pause, [this] { check(); });
}

GearmanScene::~GearmanScene() {
  first_.watcher = second_.watcher = nullptr;
}

Host& GearmanScene::host(const std::string& name) {
  return **std::find_if(place_.hosts.begin(), place_.hosts.end(),
                        [&](const auto& each) { return each->name() == name; });
}

// ---- clients

void GearmanScene::put_jobs() {
  std::erase_if(clients_, [](const auto& each) { return each->ended(); });
  Gearmand& at = random_.chance(60) ? first_ : second_;
  for (auto left = random_.between(1, 3); left > 0; --left) put_job(at);
  place_.world.after(random_.between(put_pause_ / 4, put_pause_ * 2), [this] { put_jobs(); });
}

void GearmanScene::put_job(Gearmand& at) {
  const std::string& function = gearman_functions[random_.chance(75) ? 0 : 1];
  ++jobs_put_;
  const std::string unique = random_.chance(70) ? "job" + std::to_string(jobs_put_) : std::string();
  const bool waits = random_.chance(50);
  const Say in_front = random_.one_of<Say>(
      {Say::submit_job, Say::submit_job, Say::submit_job_high, Say::submit_job_low});
  const Say behind = random_.one_of<Say>(
      {Say::submit_job_bg, Say::submit_job_bg, Say::submit_job_high_bg, Say::submit_job_low_bg});
  if (!at.accepts() || at.waiting(function) >= max_waiting) return;
  const auto client = std::make_shared<GearmanClient>(at);
  client->submit(waits ? in_front : behind, function, unique, "grain");
  if (!waits) place_.world.after(100ms, [client] { client->leave(); });
  clients_.push_back(client);
}

// ---- faults

void GearmanScene::begin(const Fault& fault) {
  Gearmand& at = gearmand_of(fault);
  switch (fault.kind) {
    case GearmanFault::gearman_line:
      return start_line(fault, at);
    case GearmanFault::gearman_break:
      return start_break(fault, at);
    case GearmanFault::gearman_restart:
      watch_->error(at.name(), fault.time);
      return at.restart(fault.time);
    case GearmanFault::gearman_hang:
      watch_->error(at.name(), fault.time);
      at.hang(true);
      return place_.world.after(fault.time, [&at] { at.hang(false); });
    case GearmanFault::other_worker: {
      if (!at.accepts()) return;
      workers_.push_back(std::make_unique<OtherWorker>(place_.world, at, Random(fault.number)));
      return place_.world.after(fault.time, [worker = workers_.back().get()] { worker->leave(); });
    }
    case GearmanFault::many_jobs:
      for (auto left = 10 + fault.number % 30; left > 0; --left) put_job(at);
      return;
    case GearmanFault::client_leaves:
      if (!clients_.empty()) clients_[fault.number % clients_.size()]->leave();
      return;
    case GearmanFault::change_gearman:
      return change_list(fault);
    case GearmanFault::pause_gearman:
      return pause(fault);
    default:
      cancel(host(fault.host));
  }
}

void GearmanScene::start_line(const Fault& fault, Gearmand& at) {
  watch_->error(fault.host + ' ' + at.name(), fault.time);
  Line& line = place_.network.line(fault.host, at.name());
  const auto over = [this, &fault](std::function<void()> what) {
    place_.world.after(fault.time, std::move(what));
  };
  switch (fault.number % 3) {
    case 0:
      line.most = Duration(static_cast<std::int64_t>(2000 + fault.number / 4 % 800'000));
      return over([&line] { line.most = Line().most; });
    case 1:
      line.held = true;
      return over([&line] { line.held = false; });
    default:
      line.refused = true;
      place_.network.lose(fault.host, at.name(), Network::Loss::now);
      return over([&line] { line.refused = false; });
  }
}

void GearmanScene::start_break(const Fault& fault, Gearmand& at) {
  static const std::vector<Network::Loss> losses{Network::Loss::now, Network::Loss::request,
                                                 Network::Loss::reply, Network::Loss::part};
  watch_->error(fault.host + ' ' + at.name(), 10s);  // a packet is sent by then
  place_.network.lose(fault.host, at.name(), losses[fault.number % losses.size()]);
}

bool GearmanScene::lost(const std::string& host, const std::string& server) {
  if (server != first_.name() && server != second_.name()) return false;
  watch_->error(host + ' ' + server, Duration{0});
  return true;
}

/// Changes the list of one host or of all, also its function and its servers, as an operator does.
void GearmanScene::change_list(const Fault& fault) {
  Random random(fault.number);
  for (const auto& each : place_.hosts) {
    if (each->name() != fault.host && fault.number % 2 == 0) continue;
    Settings& settings = place_.settings_of[each->name()];
    for (ListSettings& other : settings.others)
      if (other.kind == SourceKind::gearman) other = draw_other(random, other.kind);
    each->write_config(settings.config_of(each->name()));
    place_.promises.error(each->name(), Duration{0});
    each->reload();
  }
}

void GearmanScene::pause(const Fault& fault) {
  Server& at = place_.redis(fault.server);
  const std::string list = gearman_name;
  at.command("operator", {"SET", list + ":paused", "for a while", "PX",
                          std::to_string(1 + fault.time.count() / 1000)});
  at.command("operator", {"PUBLISH", list + ":wake", ""});
}

void GearmanScene::cancel(Host& whose) {
  const auto* supervisor = whose.supervisor();
  if (supervisor == nullptr || !supervisor->lists().contains(gearman_name)) return;
  const auto* poller = supervisor->lists().at(gearman_name)->poller();
  if (poller != nullptr)
    poller->runs().each([&](const ActiveRun& run) { whose.cancel(run.claim.run); });
}

// ---- invariants

bool GearmanScene::is_calm() const {
  return place_.world.now() > place_.calm + recovery_of_lines &&
         place_.world.now() < place_.calm + Scale::calm;
}

Duration GearmanScene::for_how_long(const std::string& what, bool is) {
  if (!is) {
    since_.erase(what);
    return Duration{0};
  }
  return place_.world.now() - since_.try_emplace(what, place_.world.now()).first->second;
}

void GearmanScene::check() {
  if (place_.world.now() >= place_.calm + Scale::calm) return;
  watch_->check();
  for (Gearmand* at : {&first_, &second_}) {
    for (const std::string& function : gearman_functions) look_at_queue(*at, function);
    for (const auto& each : place_.hosts) {
      if (is_calm()) check_connections(*at, *each);
      check_packets(*at, *each);
    }
  }
  place_.world.after(gearman_check_pause, [this] { check(); });
}

/// Checks that queued jobs are claimed, even during an outage of Redis.
void GearmanScene::look_at_queue(Gearmand& at, const std::string& function) {
  const GearmanJob* job = at.max_waiting(function);
  for (const auto& each : place_.hosts) {
    const Duration room =
        for_how_long(each->name() + ' ' + at.name() + ' ' + function, accepts(at, function, *each));
    if (job != nullptr && room > max_wait_for_host &&
        place_.world.now() - job->since > max_wait_for_host)
      place_.promises.break_promise(
          "queued jobs are claimed",
          each->name() + " has a free slot, and " + job->id() + " is queued at " + at.name(),
          {each->name(), at.name(), std::string(gearman_name) + ' ' + job->id()});
  }
}

/// Returns whether a host regards the list as paused. It keeps the last state during an outage.
bool GearmanScene::believes_paused(const Host& host) {
  bool& believes = believes_paused_[host.name()];
  if (host.server().empty()) return believes = false;
  const bool is = place_.redis(host.server()).keys().exists(std::string(gearman_name) + ":paused");
  if (is || host.connected()) believes = is;
  return believes;
}

/// Returns whether a host must accept jobs of this function from a gearmand now.
bool GearmanScene::accepts(const Gearmand& at, const std::string& function, const Host& host) {
  const auto* supervisor = host.supervisor();
  if (supervisor == nullptr || host.stalled() || believes_paused(host) ||
      watch_->in_error(host.name(), at.name(), place_.world.now()))
    return false;
  const auto served = supervisor->lists().find(gearman_name);
  const auto& servers = supervisor->config().gearman.servers;
  if (served == supervisor->lists().end() || served->second->poller() == nullptr ||
      std::none_of(servers.begin(), servers.end(),
                   [&](const GearmanServer& each) { return each.host == at.name(); }))
    return false;
  const ServedList& list = *served->second;
  const PollerState state = list.poller()->state();
  return list.config().gearman().function == function &&
         (state == PollerState::claiming || state == PollerState::idle);
}

/// Checks that a host has a connection to each configured server, and others only for unfinished
/// jobs.
void GearmanScene::check_connections(Gearmand& at, const Host& host) {
  if (!host.alive()) return;
  const auto& servers = host.supervisor()->config().gearman.servers;
  const bool named = std::any_of(servers.begin(), servers.end(),
                                 [&](const GearmanServer& each) { return each.host == at.name(); });
  const std::size_t least = named ? 1 : 0;
  const std::size_t there = at.sessions_of(host.name());
  const bool wrong = there < least || there > least + watch_->held_by(host.name(), at.name());
  if (for_how_long("connections " + host.name() + ' ' + at.name(), wrong) > 3s)
    place_.promises.break_promise(
        "connections match the config",
        host.name() + " has " + std::to_string(there) + " to " + at.name(), {host.name()});
}

/// Checks that an idle host sends few packets.
void GearmanScene::check_packets(Gearmand& at, const Host& host) {
  Window& was = windows_[host.name() + ' ' + at.name()];
  const Instant now = place_.world.now();
  if (now - was.since < window_of_packets) return;
  const Window is{now, at.packets_of(host.name()), watch_->moves(at.name()), jobs_put_};
  const std::uint64_t most =
      packets_at_rest + (is.moves - was.moves + is.jobs - was.jobs) * packets_of_job;
  if (is_calm() && is.packets - was.packets > most)
    place_.promises.break_promise(
        "calls are bounded",
        host.name() + " has sent " + std::to_string(is.packets - was.packets) + " packets to " +
            at.name() + " in 10 s, for " + std::to_string(is.moves - was.moves) + " jobs",
        {host.name()});
  was = is;
}

void GearmanScene::nothing_left() {
  watch_->nothing_left();
  for (Gearmand* at : {&first_, &second_})
    for (const auto& each : place_.hosts)
      if (at->sessions_of(each->name()) > 0)
        place_.promises.break_promise(
            "a drain ends", each->name() + " is connected to " + at->name(), {each->name()});
}

}  // namespace w8y::sim
