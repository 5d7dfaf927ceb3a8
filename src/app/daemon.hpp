// `w8yd` at work: what a host is made of, and in which order that starts, reloads and ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/event_hub.hpp"
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
  std::optional<std::string> embedded;  ///< the folder of the embedded Redis, if there is one
};

class Daemon final : private ReloadSteps, private DrainSteps {
 public:
  /// The config has been loaded once already. Throws std::runtime_error for what can't be had at
  /// start (a status address in use, no redis-server to embed).
  Daemon(DaemonOptions options, Config config);
  ~Daemon() override;

  /// Until it is told to end and has drained. Returns the exit status.
  int run();

 private:
  // of ReloadSteps
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
  // of DrainSteps
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
  // who is told what happens
  api::EventHub event_hub_;
  ops::EventLog event_log_;
  EventFanOut events_;
  EventReporter reporter_;
  // what lists are made with
  ChildProcesses processes_;
  EmbeddedServer embedded_;
  RedisConnection redis_;
  GearmanConnections gearman_;
  Timefiles timefiles_;
  ListFactory factory_;
  Supervisor supervisor_;
  ConfigPtr first_config_;  ///< until it is in force
  // who decides
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
  // the other parts that the config decides about
  LogSettings log_settings_;
  StatusServers servers_;
  Signals signals_;
  LimitsReport limits_;
  SystemdNotifier systemd_;
  Timer tidy_;

  /// In the order in which they start.
  const std::vector<Subsystem*> subsystems_;
  /// Gone when what is read in the background must not be told any more.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::app
