#include "app/daemon.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include <w8y/escape.hpp>
#include <w8y/limit_shortfalls.hpp>
#include <w8y/units.hpp>

#include "app/config_loading.hpp"
#include "app/host_status.hpp"
#include "executor/executor_factory.hpp"
#include "loop/background.hpp"
#include "ops/api.hpp"
#include "ops/unix_listener.hpp"
#include "process/host_limits.hpp"
#include "source/circular/circular_factory.hpp"
#include "store/circular/redis_list.hpp"

namespace w8y::app {

namespace {

std::uint64_t random_number() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

/// Readable, and never the same twice: a name that is used again is not mistaken for the old one.
std::string make_host_id(const std::string& host, std::uint64_t seed) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string id = host + "-";
  for (int i = 0; i < 8; ++i, seed >>= 4U) id += digits[seed & 15U];
  return id;
}

}  // namespace

Daemon::Daemon(DaemonOptions options, Config config)
    : options_(std::move(options)),
      hub_(loop_),
      event_log_(log_, loop_.clock(), loop_.timers()),
      reporter_(events_),
      seed_(random_number()),
      host_(config.supervisor.host),
      host_id_(make_host_id(host_, seed_)),
      started_(loop_.clock().wall()),
      orphans_(loop_),
      spawns_(loop_, process::SpawnServiceOptions{.groups = &groups_}),
      folders_(loop_),
      prober_(loop_, &groups_, &spawns_),
      retiring_streams_(loop_),
      supervisor_(SupervisorHost{loop_.clock(), loop_.timers(), reporter_, *this, seed_}),
      survey_(loop_),
      list_walks_(loop_.clock(), loop_.timers(), supervisor_, survey_),
      watchdog_(loop_.timers()),
      tidy_(loop_.timers()),
      swap_(loop_.timers()) {
  events_.add(event_log_);
  events_.add(hub_);
  use_log_settings(config.supervisor);
  log_.info("w8yd started", {{"version", W8Y_VERSION}, {"host", host_}, {"pid", getpid()}});
  for (const auto& warning : config.warnings) log_.warn(warning);
  say_groups();
  say_folders();
  prepare_limits(config);
  // libuv makes its threads at first use, and aborts if it can't: not when processes are short.
  loop::in_background(loop_, [] {});
  watch_signals();
  // Before anything else is begun: another w8yd may have them. Nobody is answered before the loop.
  serve_status(config.supervisor.status);
  if (options_.embedded) {
    ops::EmbeddedRedisOptions embedded;
    embedded.folder = *options_.embedded;
    embedded.groups = &groups_;
    embedded_ = std::make_unique<ops::EmbeddedRedis>(
        loop_, embedded, static_cast<ops::EmbeddedRedisHandler&>(*this));
    std::printf("%s\n", embedded_->url().c_str());
    std::fflush(stdout);
    log_.info("embedded Redis", {{"url", embedded_->url()}});
  }
  ops::add_api(router_, *this, hub_);
  link_ = open_link(config, [this](RedisState state) { redis_changed(state); });
  set_hashes(config);
  first_config_ = std::make_shared<const Config>(std::move(config));
  supervisor_.apply(first_config_, false, [this](const ReloadPlan&) {
    applied_ = true;
    first_config_.reset();
    say_shortfalls();
    look_ready();
    reload_once_more();  // one that came while the first probes were out
  });
}

Daemon::~Daemon() = default;

int Daemon::run() {
  feed_watchdog();
  loop_.run();
  // Whoever waits for us to be gone sees it by the socket: that is the last thing to go.
  embedded_.reset();
  servers_.clear();
  event_log_.flush();
  log_.info("w8yd ended");
  return 0;
}

void Daemon::use_log_settings(const SupervisorSettings& settings) {
  log_.configure({settings.log_level, settings.log_format, settings.log_file});
}

// ---- control groups

void Daemon::say_groups() {
  groups_.on_problem = [this](const std::string& why) {
    log_.warn("control groups can't be used any more; runs are killed by process group only",
              {{"reason", why}});
  };
  if (groups_.left_behind() > 0)
    log_.warn("killed what an earlier w8yd left behind", {{"processes", groups_.left_behind()}});
  if (groups_.usable()) {
    log_.debug("a control group for each run", {{"in", groups_.path()}});
  } else {
    log_.info("no control groups: runs are killed by process group only",
              {{"reason", groups_.problem()}});
  }
}

void Daemon::say_folders() {
  folders_.on_stays = [this](const std::string& path, const std::string& why) {
    if (why.empty()) {
      log_.info("removed the folder of a run, after some tries", {{"folder", path}});
    } else {
      log_.warn("can't remove the folder of a run; trying again",
                {{"folder", path}, {"reason", why}});
    }
  };
}

void Daemon::prepare_limits(const Config& config) {
  process::GroupLimits wanted;
  for (const auto& [prefix, rule] : config.lists) {
    if (rule->child->memory_max) wanted.memory_max = rule->child->memory_max;
    if (rule->child->cpu_weight) wanted.cpu_weight = rule->child->cpu_weight;
  }
  if (!wanted.any()) return;
  const std::string problem = groups_.prepare(wanted);
  if (problem == std::exchange(limits_problem_, problem) || problem.empty()) return;
  log_.warn("memory_max and cpu_weight have no effect on this host", {{"reason", problem}});
}

void Daemon::say_shortfalls() {
  std::vector<RulePtr> served;
  const Config& config = supervisor_.config();
  for (const auto& [prefix, list] : supervisor_.lists())
    if (list->state() == ServingState::serving) served.push_back(config.lists.at(prefix));
  auto lines = shortfalls(served, config.supervisor, process::host_limits());
  if (lines == shortfalls_) return;
  shortfalls_ = std::move(lines);
  for (const auto& line : shortfalls_) log_.warn(line);
}

// ---- what the supervisor's lists are made of

std::unique_ptr<Source> Daemon::make_source(const RulePtr&, IdlePolls& idle,
                                            SourceHandler& handler) {
  return source::make_circular(link_->redis, idle, handler);
}

std::shared_ptr<Executor> Daemon::make_executor(const RulePtr& rule, const Caps& caps,
                                                RunHandler& handler) {
  return executor::make_executor(
      loop_, executor::ExecutorOptions{host_, &groups_, &retiring_streams_, &spawns_, &folders_},
      handler, *rule, caps);
}

std::string Daemon::why_not(const Rule& rule, const Caps& caps) {
  return executor::why_not(rule, caps);
}

// ---- Redis

std::unique_ptr<Daemon::Link> Daemon::open_link(const Config& config, RedisWatch::Changed changed) {
  auto link = std::make_unique<Link>();
  redis::ClientOptions client = client_options(config.redis, "w8yd");
  if (embedded_) client.url = redis::parse_url(embedded_->url());
  link->url = client.url;
  link->redis = std::make_shared<store::RedisSession>(
      loop_, client,
      store::RedisSession::Holder{config.supervisor.host, getpid(), random_number()});
  link->watch =
      std::make_unique<RedisWatch>(link->redis->client, loop_.clock(), loop_.timers(), client.url,
                                   log_, events_, embedded_ != nullptr, std::move(changed));
  return link;
}

void Daemon::redis_changed(RedisState state) {
  redis_state_ = state;
  // A server that is too old is left alone; one that is away answers for itself.
  supervisor_.set_quiet(quiet_ || state == RedisState::too_old);
  look_ready();
}

void Daemon::look_ready() {
  if (ready_ || !applied_ || redis_state_ != RedisState::usable || draining_) return;
  ready_ = true;
  // Gives back the memory that the first claims of all lists took.
  tidy_.set(loop_.now() + std::chrono::seconds(1), [this] { let_go(nullptr); });
  notify_.ready("serving " + std::to_string(supervisor_.lists().size()) + " lists");
  events_.on_event(HostReady{supervisor_.lists().size(), supervisor_.config_hash()});
}

void Daemon::on_redis_up() {
  link_->redis->client.reconnect_now();
}

void Daemon::on_redis_down(const std::string& why, Duration) {
  log_.error("the embedded Redis ended", {{"reason", why}});
}

void Daemon::on_redis_log(const std::string& line) {
  log_.debug("redis-server", {{"out", ops::Said{line}}});
}

// ---- status

std::unique_ptr<ops::HttpServer> Daemon::serve_at(const std::string& address) {
  const std::string path = address.substr(std::string("unix:").size());
  auto server =
      std::make_unique<ops::HttpServer>(loop_, path, router_, ops::HttpLimits{}, ops::HttpGate{},
                                        [this](const std::string& complaint) {
                                          log_.debug(complaint, {{"from", "http"}});
                                        });
  log_.info("status", {{"address", address}});
  return server;
}

/// At start. If another w8yd has the address, this one does not start: whoever asks there would be
/// answered by the wrong one. Without an address for another reason the work goes on, and each
/// reload tries again.
void Daemon::serve_status(const std::vector<std::string>& addresses) {
  for (const auto& address : addresses) {
    try {
      servers_[address] = serve_at(address);
    } catch (const ops::SocketInUse&) {
      throw;
    } catch (const std::exception& error) {
      servers_.erase(address);
      log_.error("can't serve the status API at this address; all else goes on",
                 {{"address", address}, {"reason", error.what()}});
    }
  }
}

void Daemon::refresh(std::function<void()> then) {
  survey_.refresh(link_->redis, supervisor_, std::move(then));
}

HostStatus Daemon::status() const {
  HostStatus status;
  status.host = host_;
  status.host_id = host_id_;
  status.pid = getpid();
  status.version = W8Y_VERSION;
  status.started = started_;
  status.state = draining_ ? HostState::draining
                 : quiet_  ? HostState::quiet
                 : ready_  ? HostState::running
                           : HostState::starting;
  status.last_reload = last_reload_;
  status.last_reload_at = last_reload_at_;
  status.last_reload_failed = last_reload_failed_;
  status.redis.url = link_->url.to_string();
  status.redis.connected = link_->redis->client.connected();
  status.redis.trouble = link_->watch ? link_->watch->trouble() : std::string();
  status.redis.commands_sent = link_->redis->client.commands_sent();
  auto& leases = link_->redis->leases;
  status.redis.leases = leases.size();
  status.redis.lease_margin = leases.margins().recent(loop_.now());
  status.redis.least_lease_margin = leases.margins().least();
  fill_from(status, supervisor_, loop_.clock());
  return status;
}

std::optional<ListStatus> Daemon::list(const std::string& prefix) const {
  return find_list(supervisor_, survey_, prefix);
}

void Daemon::feed_watchdog() {
  if (!notify_.watchdog()) return;
  // Only while timers run in time and no renewal is overdue.
  if (!link_->redis->leases.overdue(loop_.now())) notify_.feed_watchdog();
  watchdog_.set(loop_.now() + *notify_.watchdog() / 2, [this] { feed_watchdog(); });
}

}  // namespace w8y::app
