// State and commands of this host for the status API.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/control.hpp"
#include "app/drain.hpp"
#include "app/host_mode.hpp"
#include "app/list_iteration.hpp"
#include "app/list_state_cache.hpp"
#include "app/list_stats_cache.hpp"
#include "app/list_stats_reader.hpp"
#include "app/redis_connection.hpp"
#include "app/reload.hpp"
#include "core/supervisor.hpp"
#include "core/timers.hpp"
#include "gearman/server_pool.hpp"
#include "process/process_use.hpp"

namespace w8y::app {

/// Parts that the API queries and controls.
struct ControlledHost {
  loop::Loop& loop;
  Supervisor& supervisor;
  const RedisConnection& redis;
  const gearman::ServerPool& gearman;
  HostMode& mode;
  Reload& reload;
  Drain& drain;
  EventHandler& events;
  /// Config in force, or about to be.
  std::function<const Config&()> config;
  const ListStatsCache& stats;
  const RunsPerMinute& hour;
  std::string id;  ///< new at each start
  int pid = 0;
};

class HostControl final : public api::Control {
 public:
  explicit HostControl(ControlledHost host);

  [[nodiscard]] const std::string& id() const { return host_.id; }
  void refresh(std::function<void()> then) override;
  [[nodiscard]] HostStatus status() const override;
  [[nodiscard]] std::string stuck() const override;
  void each_list(std::function<void(const ListStatus&)> look, std::function<void()> then) override {
    list_walks_.begin(
        [look = std::move(look)](const ListStatus& list, const ServedList&) { look(list); },
        std::move(then));
  }
  void count_items(const std::string& prefix,
                   std::function<void(const std::optional<ListStats>&)> then) override;
  [[nodiscard]] std::optional<ListStatus> list(const std::string& prefix) const override;
  [[nodiscard]] ConfigText config_text(const std::string* list) const override;
  [[nodiscard]] SecretAnswer compare_secret(const SecretQuestion& question,
                                            const std::string& salt) const override {
    return w8y::compare_secret(host_.config(), question, salt);
  }
  [[nodiscard]] ResourceUse process_use(int pid) const override {
    return process::process_use(pid);
  }
  [[nodiscard]] bool has_token() const override {
    return !host_.config().supervisor.status_token_file.empty();
  }
  api::CommandResult quiet() override { return host_.mode.quiet(); }
  api::CommandResult resume() override { return host_.mode.resume(); }
  api::CommandResult drain() override;
  void reload(Answer answer) override { host_.reload.request(std::move(answer)); }
  api::CommandResult cancel(const RunId& run) override;
  [[nodiscard]] std::string tail(const RunId& run) const override;
  void run_item(const std::string& prefix, const Item& item, Answer answer) override;

 private:
  /// Count of the items of one list.
  struct Count {
    explicit Count(TimerQueue& timers) : timeout(timers) {}
    std::optional<ListStatsReader> reader;
    std::optional<ListStats> stats;
    std::function<void(const std::optional<ListStats>&)> then;  ///< empty after its call
    Timer timeout;
  };

  ControlledHost host_;
  WallTime started_;
  ListStateCache survey_;
  ListIteration list_walks_;
  std::vector<std::unique_ptr<Count>> counts_;
};

}  // namespace w8y::app
