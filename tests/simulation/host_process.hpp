// Life of w8yd on a host: the parts of the daemon, composed as the daemon does it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/run_id.hpp"
#include "gearman/server_pool.hpp"
#include "simulation/host.hpp"
#include "simulation/simulated_membership.hpp"
#include "source/source_factory.hpp"

namespace w8y::sim {

class NoLog final : public ops::LineLog {
 public:
  [[nodiscard]] bool enabled(LogLevel) const override { return false; }

 private:
  void put(LogLevel, std::string_view, ops::LogFields) override {}
};

/// One life of w8yd.
class Process final : private app::ReloadSteps,
                      private ServedListObserver,
                      private PollerFactory,
                      private Prober,
                      private app::DrainSteps,
                      private EventHandler {
 public:
  Process(Host& host, ConfigPtr config)
      : host_(host),
        loop_(host.clock_),
        redis_({loop_, log_, *this, [] { return std::string(); },
                [this](const std::string& name) {
                  return store::RedisSession::Holder{name, host_.pid_, host_.random_.next()};
                }}),
        gearman_(loop_, *this, host.random_.fork(1).next(),
                 [&host](loop::Loop& loop, const GearmanServer& server, Duration,
                         loop::Transport::Handler& handler) {
                   return host.network_.make(loop, server.host, handler);
                 }),
        run_ids_(host.random_.fork(2).next()),
        supervisor_(
            SupervisorHost{loop_.clock(), loop_.timers(), *this, *this, host.random_.next()}),
        mode_(supervisor_, *this),
        reload_(loop_.clock(), loop_.timers(), "w8y.toml", *this, *this) {
    host_.network_.attach(loop_, host_);
    redis_.on_changed = [this](app::RedisState state) { mode_.redis_changed(state); };
    mode_.on_ready = [] {};
    redis_.start(*config);
    gearman_.use(config->gearman, config->supervisor.host);
    if (host_.joins_fleet_) join_fleet(*config);
    supervisor_.apply(std::move(config), false, [this](const ReloadPlan&) {
      if (fleet_) fleet_->fleet().applied(supervisor_.config());
      mode_.lists_served();
      reload_.started();
    });
  }
  ~Process() override {
    fleet_.reset();
    host_.network_.detach(loop_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] loop::Loop& loop() { return loop_; }
  [[nodiscard]] Supervisor& supervisor() { return supervisor_; }
  [[nodiscard]] app::Reload& reload() { return reload_; }
  [[nodiscard]] app::HostMode& mode() { return mode_; }
  [[nodiscard]] std::size_t kept() const {
    const store::RedisSession& session = *redis_.session();
    return session.client.unsent() + session.item_room.held();
  }
  /// `drained` is called instead of Host::on_ended.
  void drain(std::function<void()> drained) {
    on_over_ = std::move(drained);
    if (fleet_) return fleet_->drain().order("a command");
    start_drain();
    supervisor_.drain(on_over_);
  }
  [[nodiscard]] bool connected() const { return redis_.status().connected; }
  [[nodiscard]] std::string server() const {
    return redis_.exists() ? redis_.options().url.server.host : std::string();
  }

 private:
  void log_line(const std::string& about, std::string text) {
    host_.world_.log(host_.name_, about, std::move(text));
  }
  static std::string about(const Poller& poller, const Claim& claim) {
    return poller.rule().prefix + ' ' + brief(claim.item);
  }

  // of ReloadSteps: as the daemon does it
  [[nodiscard]] ConfigPtr in_force() const override { return supervisor_.shared_config(); }
  [[nodiscard]] std::uint64_t generation() const override { return supervisor_.generation(); }
  void read(ConfigPtr, Read then) override {
    config::LoadResult result;
    result.config = parse(host_.config_);
    then(std::move(result));
  }
  [[nodiscard]] bool same_connection(const Config& running, const Config& wanted) const override {
    return app::RedisConnection::same(running, wanted);
  }
  void connect(const Config& wanted, Connected then) override {
    redis_.open(wanted, std::move(then));
  }
  std::string prepare(const Config&, const Config&) override { return {}; }
  void apply(ConfigPtr wanted, Applied then) override {
    const bool new_sources = redis_.has_opened();
    redis_.commit(*wanted);
    if (fleet_) fleet_->fleet().commit(*wanted);
    gearman_.use(wanted->gearman, wanted->supervisor.host);
    supervisor_.apply(std::move(wanted), new_sources,
                      [this, then = std::move(then)](const ReloadPlan& plan) {
                        if (fleet_) fleet_->fleet().applied(supervisor_.config());
                        then(plan);
                      });
  }
  void abandon() override { redis_.abandon(); }
  void discard(ConfigPtr) override {}

  void join_fleet(const Config& config) {
    fleet_.emplace(SimulatedMembership::Parts{loop_, log_, redis_, gearman_, supervisor_, mode_,
                                              reload_, *this, *this, host_.id_, host_.pid_});
    fleet_->fleet().start(config);
  }

  // of DrainSteps
  [[nodiscard]] std::size_t running() const override { return supervisor_.running(); }
  void start_drain() override {
    mode_.draining();
    reload_.close();
  }
  void drain_lists(std::function<void()> then) override { supervisor_.drain(std::move(then)); }
  void when_no_streams(std::function<void()> then) override { then(); }
  void kill_streams() override {}
  void kill_orphans() override {}
  void end_redis(std::function<void()> then) override { fleet_->fleet().leave(std::move(then)); }
  void end_loop() override { on_over_ ? on_over_() : host_.on_ended(); }

  // of PollerFactory
  std::unique_ptr<Source> make_source(const ListConfigPtr& rule, IdlePolls& idle,
                                      SourceHandler& handler) override {
    if (rule->kind() == SourceKind::gearman)
      return source::make_gearman(redis_.session(),
                                  {loop_.clock(), loop_.timers(), run_ids_, gearman_}, handler);
    return source::make_source(redis_.session(), *rule, idle, handler);
  }
  std::unique_ptr<ListMaintenance> make_maintenance(const ListConfigPtr& rule, IdlePolls& idle,
                                                    ListMaintenanceHandler& handler) override {
    return source::make_upkeep(redis_.session(), rule, idle, handler,
                               [](const std::string&, std::int64_t) {});
  }
  std::shared_ptr<Executor> make_executor(const ListConfigPtr& rule, const Caps&,
                                          RunHandler& handler) override {
    return host_.children_.make_executor(host_, *rule, handler);
  }
  std::string why_not(const ListConfig&, const Caps&) override { return {}; }
  Prober& prober() override { return *this; }
  void look_for(const ListConfig&, Duration, Answer answer) override {
    host_.world_.after(std::chrono::milliseconds(5),
                       [this, alive = std::weak_ptr<bool>(alive_), answer = std::move(answer)] {
                         if (alive.expired()) return;
                         host_.deliver([alive, answer] {
                           if (!alive.expired()) answer(Caps{});
                         });
                       });
  }

  // of ServedListObserver
  void run_started(const Poller& poller, const ActiveRun& run) override {
    if (fleet_) fleet_->reporter().run_started(poller, run);
    log_line(about(poller, run.claim), "run " + run.claim.run + " has started");
  }
  void run_message(const Poller& poller, const ActiveRun& run, const Message& message) override {
    if (fleet_) fleet_->reporter().run_message(poller, run, message);
  }
  void run_logged(const Poller&, const ActiveRun&, std::string_view, bool) override {}
  void run_ended(const Poller& poller, const EndedRun& run) override {
    if (fleet_) fleet_->reporter().run_ended(poller, run);
    const std::string reason = outcome_reason(run.outcome);
    log_line(about(poller, run.claim), "run " + run.claim.run + ' ' + outcome_name(run.outcome) +
                                           (reason.empty() ? "" : ": " + reason));
    host_.watcher_.run_over(host_.name_, server(), run);
  }
  void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) override {
    if (fleet_) fleet_->reporter().lease_changed(poller, run, lost);
    log_line(about(poller, run.claim),
             "lease of run " + run.claim.run + (lost ? " is lost" : " is back"));
    if (!lost) host_.watcher_.lease_back(run.claim.run);
  }
  void item_quarantined(const Poller& poller, const DisplayItem& item,
                        const std::string& why) override {
    if (fleet_) fleet_->reporter().item_quarantined(poller, item, why);
    log_line(poller.rule().prefix + ' ' + brief(item.beginning), "parked: " + why);
  }
  void settlement_abandoned(const Poller& poller, const RunId& run,
                            const std::string& why) override {
    if (fleet_) fleet_->reporter().settlement_abandoned(poller, run, why);
    log_line(poller.rule().prefix, "end of run " + run + " given up: " + why);
  }
  void state_changed(Poller& poller) override {
    if (fleet_) fleet_->reporter().state_changed(poller);
  }
  void shortage_changed(const Poller& poller) override {
    if (fleet_) fleet_->reporter().shortage_changed(poller);
  }
  void list_refused(const ListConfig& rule, const Ineligibility& refusal) override {
    if (fleet_) fleet_->reporter().list_refused(rule, refusal);
    log_line(rule.prefix, "refused: " + refusal.reason);
  }
  void list_served(const ListConfig& rule, const Caps& caps) override {
    if (fleet_) fleet_->reporter().list_served(rule, caps);
    log_line(rule.prefix, "served");
  }
  void maintenance_changed(const ListConfig& rule, const std::string& why) override {
    if (fleet_) fleet_->reporter().maintenance_changed(rule, why);
    log_line(rule.prefix, why.empty() ? "upkeep goes on" : "upkeep: " + why);
  }
  // of EventHandler
  void on_event(const Event& event) override {
    if (fleet_) fleet_->fleet().on_event(event);
    if (const auto* redis = std::get_if<RedisChanged>(&event))
      log_line("", redis->connected ? "Redis is back" : "Redis: " + std::string(redis->error));
    if (const auto* reloaded = std::get_if<Reloaded>(&event))
      log_line("", "reloaded: " + std::string(reloaded->text));
    if (const auto* gearmand = std::get_if<GearmanChanged>(&event))
      log_line("", std::string(gearmand->server) +
                       (gearmand->connected ? " is there" : ": " + std::string(gearmand->error)));
    if (const auto* noted = std::get_if<GearmanProblem>(&event))
      log_line("", std::string(noted->server) + ": " + std::string(noted->why));
    if (const auto* dropped = std::get_if<SettlementsAbandoned>(&event))
      log_line("", "ends dropped: " + std::to_string(dropped->runs));
  }

  Host& host_;
  loop::Loop loop_;
  NoLog log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  app::RedisConnection redis_;
  gearman::ServerPool gearman_;
  RunIds run_ids_;
  Supervisor supervisor_;
  app::HostMode mode_;
  app::Reload reload_;
  std::optional<SimulatedMembership> fleet_;  ///< of hosts that join a fleet
  std::function<void()> on_over_;
};

}  // namespace w8y::sim
