// `w8yd` at work: the supervisor of a host, with its connection, its status server and its signals.
#pragma once

#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <w8y/event_reporter.hpp>
#include <w8y/supervisor.hpp>

#include "app/config_loading.hpp"
#include "app/list_walks.hpp"
#include "app/redis_watch.hpp"
#include "app/survey.hpp"
#include "executor/probe.hpp"
#include "executor/retiring_streams.hpp"
#include "loop/loop.hpp"
#include "ops/control.hpp"
#include "ops/embedded_redis.hpp"
#include "ops/event_hub.hpp"
#include "ops/event_log.hpp"
#include "ops/http_server.hpp"
#include "ops/log.hpp"
#include "ops/notify.hpp"
#include "process/cgroup.hpp"
#include "process/orphans.hpp"
#include "process/spawn_service.hpp"
#include "process/temp_folder.hpp"
#include "store/redis_session.hpp"

namespace w8y::app {

struct DaemonOptions {
  std::string config_path;
  std::optional<std::string> embedded;  ///< the folder of the embedded Redis, if there is one
};

class Daemon final : private PollerFactory,
                     private ops::Control,
                     private ops::EmbeddedRedisHandler {
 public:
  /// The config has been loaded once already. Throws std::runtime_error for what can't be had at
  /// start (a status address in use, no redis-server to embed).
  Daemon(DaemonOptions options, Config config);
  ~Daemon() override;

  /// Until it is told to end and has drained. Returns the exit status.
  int run();

 private:
  /// One connection, and who watches it.
  struct Link {
    std::shared_ptr<store::RedisSession> redis;
    redis::Url url;
    std::unique_ptr<RedisWatch> watch;
  };
  /// A reload on its way: the file is being read, then its connection tried.
  using Servers = std::map<std::string, std::unique_ptr<ops::HttpServer>>;  ///< by address
  struct Reload {
    ConfigPtr running;           ///< what is in force until then
    ConfigPtr config;            ///< nullptr: not read yet
    std::unique_ptr<Link> link;  ///< nullptr: as it is
    Servers servers;             ///< on addresses that are new
    std::unique_ptr<Timer> patience;
  };

  // of PollerFactory
  std::unique_ptr<Source> make_source(const RulePtr& rule, IdlePolls& idle,
                                      SourceHandler& handler) override;
  std::shared_ptr<Executor> make_executor(const RulePtr& rule, const Caps& caps,
                                          RunHandler& handler) override;
  std::string why_not(const Rule& rule, const Caps& caps) override;
  Prober& prober() override { return prober_; }
  // of Control
  void refresh(std::function<void()> then) override;
  [[nodiscard]] HostStatus status() const override;
  void each_list(std::function<void(const ListStatus&)> look, std::function<void()> then) override {
    list_walks_.begin(std::move(look), std::move(then));
  }
  [[nodiscard]] std::optional<ListStatus> list(const std::string& prefix) const override;
  [[nodiscard]] ConfigText config_text() const override { return describe(config()); }
  [[nodiscard]] SecretAnswer compare_secret(const SecretQuestion& question,
                                            const std::string& salt) const override {
    return w8y::compare_secret(config(), question, salt);
  }
  ops::ControlResult quiet() override;
  ops::ControlResult resume() override;
  ops::ControlResult drain() override;
  void reload(Answer answer) override;
  ops::ControlResult cancel(const RunId& run) override;
  void run_item(const std::string& prefix, const Item& item, Answer answer) override;
  // of EmbeddedRedisHandler
  void on_redis_up() override;
  void on_redis_down(const std::string& why, Duration pause) override;
  void on_redis_log(const std::string& line) override;
  void on_redis_stopped() override { loop_.stop(); }

  /// In force, or about to be.
  [[nodiscard]] const Config& config() const {
    return applied_ ? supervisor_.config() : *first_config_;
  }
  std::unique_ptr<Link> open_link(const Config& config, RedisWatch::Changed changed);
  void watch_signals();
  void redis_changed(RedisState state);
  void look_ready();
  void begin_reload();
  void was_read(LoadResult&& reading);
  void try_new_link();
  void apply_reload();
  void reloaded(const ReloadPlan& plan);
  void reload_failed(const std::string& text, std::vector<std::string> lines);
  void reload_once_more();
  void end_reload();
  void let_go(ConfigPtr config);
  void answer_reload(const ops::ControlResult& result);
  std::unique_ptr<ops::HttpServer> serve_at(const std::string& address);
  void serve_status(const std::vector<std::string>& addresses);
  [[nodiscard]] std::string prepare_host();
  void take_servers();
  void begin_drain(const char* why);
  void drained();
  void end();
  void feed_watchdog();
  void use_log_settings(const SupervisorSettings& settings);
  void say_groups();
  void say_folders();
  void prepare_limits(const Config& config);
  void say_shortfalls();

  DaemonOptions options_;
  loop::Loop loop_;
  ops::Log log_;
  ops::Notify notify_;
  ops::EventHub hub_;
  ops::EventLog event_log_;
  EventFanOut events_;
  EventReporter reporter_;
  std::uint64_t seed_;
  std::string host_;
  std::string host_id_;
  WallTime started_;
  process::Orphans orphans_;
  process::ControlGroups groups_;
  process::SpawnService spawns_;
  process::TempFolders folders_;
  std::string limits_problem_;           ///< said already
  std::vector<std::string> shortfalls_;  ///< the same
  executor::ProcessProber prober_;
  executor::RetiringStreams retiring_streams_;
  std::unique_ptr<ops::EmbeddedRedis> embedded_;
  std::unique_ptr<Link> link_;
  Supervisor supervisor_;
  Survey survey_;
  ListWalks list_walks_;
  ops::Router router_;
  Servers servers_;
  std::vector<std::unique_ptr<loop::SignalWatch>> signals_;
  Timer watchdog_;
  Timer tidy_;
  Timer swap_;

  bool applied_ = false;    ///< the first configuration is in force
  ConfigPtr first_config_;  ///< until then
  bool ready_ = false;
  RedisState redis_state_ = RedisState::down;
  bool quiet_ = false;  ///< by an operator
  bool draining_ = false;
  unsigned drain_orders_ = 0;
  bool drained_ = false;  ///< but for stream processes that are ending
  std::shared_ptr<Reload> reload_;
  bool reload_again_ = false;
  std::vector<Answer> reload_answers_;        ///< for the reload that is going on
  std::vector<Answer> reload_again_answers_;  ///< for the one after it
  std::string last_reload_;
  WallTime last_reload_at_{0};
  bool last_reload_failed_ = false;
};

}  // namespace w8y::app
