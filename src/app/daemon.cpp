#include "app/daemon.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/host_routes.hpp"
#include "api/routes.hpp"
#include "config/loading.hpp"
#include "loop/background.hpp"
#include "page/page.hpp"
#include "process/pid_namespace.hpp"
#include "redis/random_number.hpp"

namespace w8y::app {

namespace {

/// Makes a readable ID that is never used twice, so that a new host with an old name differs from
/// the old host.
std::string make_host_id(const std::string& host, std::uint64_t seed) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string id = host + "-";
  for (int i = 0; i < 8; ++i, seed >>= 4U) id += digits[seed & 15U];
  return id;
}

}  // namespace

Daemon::Daemon(DaemonOptions options, Config config)
    : options_(std::move(options)),
      id_(make_host_id(config.supervisor.host, redis::random_number())),
      event_hub_(loop_, id_.substr(id_.rfind('-') + 1)),
      event_log_(log_, loop_.clock(), loop_.timers()),
      reporter_(events_),
      processes_(loop_, log_),
      embedded_(loop_, log_, processes_.groups(), options_.embedded),
      redis_({loop_, log_, events_,
              [this] { return embedded_.exists() ? embedded_.url() : std::string(); },
              [](const std::string& host) {
                return store::RedisSession::Holder{host, getpid(), redis::random_number(),
                                                   process::in_own_pid_namespace()};
              }}),
      gearman_(loop_, events_),
      timefiles_(loop_, log_),
      factory_(loop_, redis_, gearman_, processes_, timefiles_),
      supervisor_(SupervisorHost{loop_.clock(), loop_.timers(), reporter_, factory_,
                                 redis::random_number()}),
      mode_(supervisor_, events_),
      reload_(loop_.clock(), loop_.timers(), options_.config_path, *this, events_),
      drain_(*this, events_),
      stats_(loop_.clock()),
      control_({loop_, supervisor_, redis_, gearman_.session(), mode_, reload_, drain_, events_,
                [this]() -> const Config& {
                  return first_config_ ? *first_config_ : supervisor_.config();
                },
                stats_, hour_, id_, getpid()}),
      queries_(loop_,
               {[this] { return redis_.options(); },
                [this] { return first_config_ ? first_config_ : supervisor_.shared_config(); }}),
      fleet_({loop_, log_, redis_, supervisor_, control_, hour_, events_, stats_, queries_,
              [this](std::size_t hosts) { supervisor_.share_polls_with(hosts); }, control_.id(),
              [] { return system_config_host().processors(); },
              [this](const std::optional<std::string>& conflict) {
                mode_.formats_compared(conflict);
              }}),
      live_(loop_, control_, fleet_, hour_),
      metrics_({loop_, supervisor_, control_, factory_, event_log_, stats_}),
      ring_(loop_, queries_),
      problems_(loop_, queries_, control_),
      jobs_(loop_, queries_),
      log_settings_(log_),
      servers_(loop_, log_, router_),
      signals_(loop_, control_, drain_, log_),
      limits_(log_, supervisor_),
      systemd_(loop_.clock(), loop_.timers(), [this] { return control_.stuck().empty(); }),
      tidy_(loop_.timers()),
      // Status addresses come before the parts that affect another w8yd, which may have these
      // addresses. Requests wait until the loop runs.
      subsystems_{&log_settings_, &processes_, &signals_, &servers_, &embedded_, &redis_,
                  &gearman_,      &queries_,   &fleet_,   &limits_,  &systemd_} {
  listen();
  start(std::move(config));
}

Daemon::~Daemon() = default;

void Daemon::listen() {
  events_.add(event_log_);
  events_.add(event_hub_);
  events_.add(systemd_);
  events_.add(fleet_);
  events_.add(live_);
  events_.add(metrics_);
  metrics_.add_to(router_);
  api::add_api(router_, control_, fleet_, event_hub_);
  page::add_live(router_, live_);
  page::add_page(router_, control_);
  ring_.add_to(router_);
  problems_.add_to(router_);
  jobs_.add_to(router_);
  api::add_routes({router_, queries_, control_, fleet_});
  embedded_.on_up = [this] { redis_.reconnect_now(); };
  mode_.on_ready = [this] { tidy_later(); };
  redis_.on_changed = [this](RedisState state) { mode_.redis_changed(state); };
}

void Daemon::start(Config config) {
  for (Subsystem* part : subsystems_) part->start(config);
  config.warnings = {};  // already logged; 10,000 lists may have as many
  set_hashes(config);
  first_config_ = std::make_shared<const Config>(std::move(config));
  supervisor_.apply(first_config_, false, [this](const ReloadPlan&) {
    first_config_.reset();
    for (Subsystem* part : subsystems_) part->applied(supervisor_.config());
    mode_.lists_served();
    reload_.started();
  });
}

int Daemon::run() {
  loop_.run();
  event_log_.flush();
  std::for_each(subsystems_.rbegin(), subsystems_.rend(), [](Subsystem* part) { part->stop(); });
  log_.info("w8yd ended");
  return 0;
}

/// Returns the memory of the first claims of all lists to the system. Each list is claimed from
/// twice, the second time when its channel is confirmed, which takes less than 1 s for each 5,000
/// lists.
void Daemon::tidy_later() {
  const auto claims = std::chrono::milliseconds(supervisor_.lists().size() / 2);
  tidy_.set(loop_.now() + std::chrono::seconds(1) + claims, [] { config::discard(nullptr); });
}

// ---- reload

/// Reads the file on a thread, because a file of 10,000 lists takes long.
void Daemon::read(ConfigPtr running, Read then) {
  const auto result = std::make_shared<config::LoadResult>();
  const auto read = [result, path = options_.config_path, running = std::move(running)] {
    *result = config::read_beside(path, *running);
  };
  const auto done = [alive = std::weak_ptr<bool>(alive_), result, then = std::move(then)] {
    if (alive.expired()) return;
    // Copies the config into the memory of this thread. The memory of the other thread is a mix of
    // config and temporary data, and is freed as a whole with the original.
    if (ConfigPtr original = std::move(result->config)) {
      result->config = std::make_shared<const Config>(*original);
      config::discard(std::move(original));
    }
    then(std::move(*result));
  };
  if (loop::in_background(loop_, read, done)) return;
  read();
  done();
}

void Daemon::connect(const Config& wanted, Connected then) {
  redis_.open(wanted, std::move(then));
}

std::string Daemon::prepare(const Config& running, const Config& wanted) {
  std::string problem;
  for (auto part = subsystems_.rbegin(); part != subsystems_.rend() && problem.empty(); ++part)
    problem = (*part)->prepare(running, wanted);
  return problem;
}

void Daemon::apply(ConfigPtr wanted, Applied then) {
  const bool new_sources = redis_.has_opened();
  for (Subsystem* part : subsystems_) part->commit(*wanted);
  if (!wanted->warnings.empty()) {
    auto told = std::make_shared<Config>(*wanted);
    told->warnings = {};
    config::discard(std::exchange(wanted, std::move(told)));
  }
  supervisor_.apply(std::move(wanted), new_sources,
                    [this, then = std::move(then)](const ReloadPlan& plan) {
                      for (Subsystem* part : subsystems_) part->applied(supervisor_.config());
                      tidy_later();
                      then(plan);
                    });
}

void Daemon::abandon() {
  for (Subsystem* part : subsystems_) part->abandon();
}

void Daemon::discard(ConfigPtr config) {
  loop::in_background(loop_,
                      [gone = std::move(config)]() mutable { config::discard(std::move(gone)); });
}

// ---- drain

void Daemon::start_drain() {
  mode_.draining();
  reload_.close();
}

void Daemon::when_no_streams(std::function<void()> then) {
  processes_.retiring_streams().when_none(std::move(then));
}

void Daemon::end_redis(std::function<void()> then) {
  fleet_.leave([this, then = std::move(then)] {
    if (!embedded_.exists()) return then();
    redis_.stop_watching();  // its end is not an error now
    embedded_.end(then);
  });
}

}  // namespace w8y::app
