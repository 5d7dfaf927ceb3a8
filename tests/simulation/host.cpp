#include "simulation/host.hpp"

#include <utility>

#include <w8y/config.hpp>
#include <w8y/run_id.hpp>

#include "gearman/session.hpp"
#include "redis/jitter.hpp"
#include "redis/transport.hpp"
#include "source/source_factory.hpp"

namespace w8y::sim {

namespace {

thread_local Network* network_in_use = nullptr;
thread_local Random* jitter_in_use = nullptr;

/// What the config of a virtual host may ask of it.
class NoFiles final : public ConfigHost {
 public:
  File read(const std::string&) override { return {"", "not found"}; }
  std::vector<std::string> glob(const std::string&) override { return {}; }
  std::string hostname() override { return "simulated"; }
  std::string variable(const std::string&) override { return {}; }
  bool is_root() override { return false; }
  std::string missing(const std::string&) override { return {}; }
  std::string distrust(const std::string&) override { return {}; }
};

}  // namespace

ConfigPtr parse(const std::string& text) {
  NoFiles files;
  Config config = parse_config(text, "w8y.toml", files);
  set_hashes(config);
  return std::make_shared<const Config>(std::move(config));
}

class NoLog final : public ops::LineLog {
 public:
  [[nodiscard]] bool enabled(LogLevel) const override { return false; }

 private:
  void put(LogLevel, std::string_view, ops::LogFields) override {}
};

void use_network(Network* network, Random* random) {
  network_in_use = network;
  jitter_in_use = random;
  redis::provide_tls([](loop::Loop& loop, const redis::ClientOptions& options,
                        redis::Transport::Handler& handler) {
    return network_in_use->make(loop, options.url.server.host, handler);
  });
  redis::provide_randomness([] { return static_cast<std::uint32_t>(jitter_in_use->next()); });
}

/// One life of w8yd.
class Process final : private app::ReloadSteps,
                      private ServedListEvents,
                      private PollerFactory,
                      private Prober,
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
    supervisor_.apply(std::move(config), false, [this](const ReloadPlan&) {
      mode_.lists_served();
      reload_.started();
    });
  }
  ~Process() override { host_.network_.detach(loop_); }
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
  [[nodiscard]] bool connected() const { return redis_.status().connected; }
  [[nodiscard]] const std::string& server() const { return redis_.options().url.server.host; }

 private:
  void say(const std::string& about, std::string text) {
    host_.world_.log(host_.name_, about, std::move(text));
  }
  static std::string about(const Poller& poller, const Claim& claim) {
    return poller.rule().prefix + ' ' + brief(claim.item);
  }

  // of ReloadSteps: as the daemon does it
  [[nodiscard]] ConfigPtr in_force() const override { return supervisor_.shared_config(); }
  [[nodiscard]] std::uint64_t generation() const override { return supervisor_.generation(); }
  void read(ConfigPtr, Read then) override {
    app::LoadResult result;
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
    gearman_.use(wanted->gearman, wanted->supervisor.host);
    supervisor_.apply(std::move(wanted), new_sources, std::move(then));
  }
  void abandon() override { redis_.abandon(); }
  void discard(ConfigPtr) override {}

  // of PollerFactory
  std::unique_ptr<Source> make_source(const RulePtr& rule, IdlePolls& idle,
                                      SourceHandler& handler) override {
    if (rule->kind() == SourceKind::gearman)
      return source::make_gearman(redis_.session(),
                                  {loop_.clock(), loop_.timers(), run_ids_, gearman_}, handler);
    return source::make_source(redis_.session(), *rule, idle, handler);
  }
  std::unique_ptr<Upkeep> make_upkeep(const RulePtr& rule, IdlePolls& idle,
                                      UpkeepHandler& handler) override {
    return source::make_upkeep(redis_.session(), rule, idle, handler,
                               [](const std::string&, std::int64_t) {});
  }
  std::shared_ptr<Executor> make_executor(const RulePtr& rule, const Caps&,
                                          RunHandler& handler) override {
    return host_.children_.make_executor(host_, *rule, handler);
  }
  std::string why_not(const Rule&, const Caps&) override { return {}; }
  Prober& prober() override { return *this; }
  void look_for(const Rule&, Duration, Answer answer) override {
    host_.world_.after(std::chrono::milliseconds(5),
                       [this, alive = std::weak_ptr<bool>(alive_), answer = std::move(answer)] {
                         if (alive.expired()) return;
                         host_.deliver([alive, answer] {
                           if (!alive.expired()) answer(Caps{});
                         });
                       });
  }

  // of ServedListEvents
  void run_started(const Poller& poller, const ActiveRun& run) override {
    say(about(poller, run.claim), "run " + run.claim.run + " has started");
  }
  void run_message(const Poller&, const ActiveRun&, const Message&) override {}
  void run_logged(const Poller&, const ActiveRun&, std::string_view, bool) override {}
  void run_ended(const Poller& poller, const EndedRun& run) override {
    const std::string reason = outcome_reason(run.outcome);
    say(about(poller, run.claim), "run " + run.claim.run + ' ' + outcome_name(run.outcome) +
                                      (reason.empty() ? "" : ": " + reason));
    host_.watcher_.run_over(host_.name_, server(), run);
  }
  void lease_changed(const Poller& poller, const ActiveRun& run, bool lost) override {
    say(about(poller, run.claim),
        "lease of run " + run.claim.run + (lost ? " is lost" : " is back"));
    if (!lost) host_.watcher_.lease_back(run.claim.run);
  }
  void item_parked(const Poller& poller, const ShownItem& item, const std::string& why) override {
    say(poller.rule().prefix + ' ' + brief(item.beginning), "parked: " + why);
  }
  void given_up(const Poller& poller, const RunId& run, const std::string& why) override {
    say(poller.rule().prefix, "end of run " + run + " given up: " + why);
  }
  void state_changed(Poller&) override {}
  void shortage_changed(const Poller&) override {}
  void list_refused(const Rule& rule, const Refusal& refusal) override {
    say(rule.prefix, "refused: " + refusal.reason);
  }
  void list_served(const Rule& rule, const Caps&) override { say(rule.prefix, "served"); }
  void upkeep_changed(const Rule& rule, const std::string& why) override {
    say(rule.prefix, why.empty() ? "upkeep goes on" : "upkeep: " + why);
  }
  // of EventHandler
  void on_event(const Event& event) override {
    if (const auto* redis = std::get_if<RedisChanged>(&event))
      say("", redis->connected ? "Redis is back" : "Redis: " + std::string(redis->trouble));
    if (const auto* reloaded = std::get_if<Reloaded>(&event))
      say("", "reloaded: " + std::string(reloaded->text));
    if (const auto* gearmand = std::get_if<GearmanChanged>(&event))
      say("", std::string(gearmand->server) +
                  (gearmand->connected ? " is there" : ": " + std::string(gearmand->trouble)));
    if (const auto* noted = std::get_if<GearmanNoted>(&event))
      say("", std::string(noted->server) + ": " + std::string(noted->why));
    if (const auto* dropped = std::get_if<EndsDropped>(&event))
      say("", "ends dropped: " + std::to_string(dropped->runs));
  }

  Host& host_;
  loop::Loop loop_;
  NoLog log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  app::RedisConnection redis_;
  gearman::Session gearman_;
  RunIds run_ids_;
  Supervisor supervisor_;
  app::HostMode mode_;
  app::Reload reload_;
};

Host::Host(World& world, Network& network, Children& children, HostWatcher& watcher,
           std::string name)
    : world_(world),
      network_(network),
      children_(children),
      watcher_(watcher),
      name_(std::move(name)),
      clock_(world),
      random_(world.random.fork(hash_of(name_))) {}

Host::~Host() = default;

void Host::deliver(std::function<void()> what) {
  if (!process_) return;
  if (stalled()) {
    waiting_.push_back(std::move(what));
    return;
  }
  turn(what);
}

void Host::turn(const std::function<void()>& what) {
  if (in_turn_) {
    // A call from inside its own: told in a turn of its own, as a loop would.
    world_.after(Duration{1}, [this, what, life = life_] {
      if (life == life_) deliver(what);
    });
    return;
  }
  in_turn_ = true;
  if (what) what();
  process_->loop().step();
  in_turn_ = false;
  come_again();
}

/// When the next of its timers is due.
void Host::come_again() {
  const auto next = process_->loop().timers().next();
  if (!next) return;
  const Instant at = std::max(*next, world_.now() + Duration{1});
  if (next_turn_ && *next_turn_ <= at) return;
  next_turn_ = at;
  world_.at(at, [this, at, life = life_] {
    if (life != life_ || next_turn_ != at) return;
    next_turn_.reset();
    if (stalled()) return;  // it looks when it goes on
    turn({});
  });
}

void Host::start() {
  if (process_) return;
  ++life_;
  ++pid_;
  started_ = world_.now();
  world_.log(name_, "", "starts");
  process_ = std::make_unique<Process>(*this, read_ ? read_ : parse(config_));
  process_->supervisor().share_looks_with(hosts_);
  turn({});
}

void Host::die() {
  if (!process_) return;
  world_.log(name_, "", "dies");
  ++life_;
  next_turn_.reset();
  waiting_.clear();
  stalled_until_ = {};
  process_.reset();
}

void Host::stall(Duration time) {
  if (!process_ || stalled()) return;
  world_.log(name_, "", "stands still for " + std::to_string(time.count() / 1000) + " ms");
  stalled_until_ = world_.now() + time;
  world_.at(stalled_until_, [this, life = life_] {
    if (life != life_) return;
    world_.log(name_, "", "goes on");
    // Timers that are due come first in a turn's end; what has arrived is read before.
    turn([this] {
      for (const auto& what : std::exchange(waiting_, {})) what();
    });
  });
}

void Host::reload() {
  deliver([this] { process_->reload().ask({}); });
}

void Host::quiet(bool on) {
  deliver([this, on] { on ? process_->mode().quiet() : process_->mode().resume(); });
}

void Host::drain(std::function<void()> drained) {
  deliver([this, drained = std::move(drained)] {
    process_->mode().draining();
    process_->reload().close();
    process_->supervisor().drain(drained);
  });
}

void Host::cancel(const RunId& run) {
  deliver([this, run] { process_->supervisor().cancel(run); });
}

void Host::run_item(const std::string& list, const Item& item) {
  deliver([this, list, item] {
    if (process_->supervisor().lists().contains(list))
      process_->supervisor().run_item(list, item, [](const ItemRun&) {});
  });
}

const Supervisor* Host::supervisor() const {
  return process_ ? &process_->supervisor() : nullptr;
}

bool Host::connected() const {
  return process_ && process_->connected();
}

HostState Host::state() const {
  return process_->mode().state();
}

std::size_t Host::kept() const {
  return process_ ? process_->kept() : 0;
}

std::string Host::server() const {
  return process_ ? process_->server() : std::string();
}

}  // namespace w8y::sim
