// `w8yd` as a daemon: the parts of a host, and the order in which they start, reload and end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/event_hub.hpp"
#include "api/job_endpoint.hpp"
#include "api/problems_endpoint.hpp"
#include "api/query_runner.hpp"
#include "api/ring_endpoint.hpp"
#include "app/child_processes.hpp"
#include "app/drain.hpp"
#include "app/embedded_server.hpp"
#include "app/fleet.hpp"
#include "app/gearman_servers.hpp"
#include "app/host_control.hpp"
#include "app/host_mode.hpp"
#include "app/limits_report.hpp"
#include "app/list_factory.hpp"
#include "app/log_settings.hpp"
#include "app/metrics.hpp"
#include "app/redis_connection.hpp"
#include "app/reload.hpp"
#include "app/signals.hpp"
#include "app/status_servers.hpp"
#include "app/systemd_notifier.hpp"
#include "app/timefiles.hpp"
#include "core/event_reporter.hpp"
#include "core/supervisor.hpp"
#include "loop/loop.hpp"
#include "ops/event_log.hpp"
#include "ops/log.hpp"
#include "page/live_hub.hpp"

namespace w8y::app {

struct DaemonOptions {
  std::string config_path;
  std::optional<std::string> embedded;  ///< directory of the embedded Redis; nullopt: there is none
};

class Daemon final : private ReloadSteps, private DrainSteps {
 public:
  /// `config`: the loaded config. Throws std::runtime_error if a requirement of the start is not
  /// met, for example if a status address is in use or there is no redis-server to embed.
  Daemon(DaemonOptions options, Config config);
  ~Daemon() override;

  /// Runs until w8yd has drained. Returns the exit status.
  int run();

 private:
  // ReloadSteps
  [[nodiscard]] ConfigPtr in_force() const override { return supervisor_.shared_config(); }
  [[nodiscard]] std::uint64_t generation() const override { return supervisor_.generation(); }
  void read(ConfigPtr running, Read then) override;
  [[nodiscard]] bool same_connection(const Config& running, const Config& wanted) const override {
    return RedisConnection::same(running, wanted);
  }
  void connect(const Config& wanted, Connected then) override;
  std::string prepare(const Config& running, const Config& wanted) override;
  void apply(ConfigPtr wanted, Applied then) override;
  void abandon() override;
  void tidy_later();
  void discard(ConfigPtr config) override;
  // DrainSteps
  [[nodiscard]] std::size_t running() const override { return supervisor_.running(); }
  void start_drain() override;
  void drain_lists(std::function<void()> then) override { supervisor_.drain(std::move(then)); }
  void when_no_streams(std::function<void()> then) override;
  void kill_streams() override { processes_.retiring_streams().kill_all(); }
  void kill_orphans() override { processes_.kill_orphans(); }
  void end_redis(std::function<void()> then) override;
  void end_loop() override { loop_.stop(); }

  void listen();
  void start(Config config);

  const DaemonOptions options_;
  const std::string id_;  ///< of this start
  loop::Loop loop_;
  ops::Log log_;
  // Receivers of events.
  api::EventHub event_hub_;
  ops::EventLog event_log_;
  EventFanOut events_;
  EventReporter reporter_;
  // Parts from which lists are made.
  ChildProcesses processes_;
  EmbeddedServer embedded_;
  RedisConnection redis_;
  GearmanConnections gearman_;
  Timefiles timefiles_;
  ListFactory factory_;
  Supervisor supervisor_;
  ConfigPtr first_config_;  ///< the first config while it is being applied; then nullptr
  // Parts that control the host.
  HostMode mode_;
  Reload reload_;
  Drain drain_;
  ListStatsCache stats_;
  HostControl control_;
  RunsPerMinute hour_;
  api::QueryRunner queries_;
  Fleet fleet_;
  page::LiveHub live_;
  Metrics metrics_;
  http::Router router_;
  api::RingEndpoint ring_;
  api::ProblemsEndpoint problems_;
  api::JobEndpoint jobs_;
  // Other parts that depend on the config.
  LogSettings log_settings_;
  StatusServers servers_;
  Signals signals_;
  LimitsReport limits_;
  SystemdNotifier systemd_;
  Timer tidy_;

  /// In the order in which they start.
  const std::vector<Subsystem*> subsystems_;
  /// Destroyed first, so that results of background work are then ignored.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
