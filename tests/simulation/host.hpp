// Simulated host: w8yd, composed as the daemon does it, on a virtual clock and network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/drain.hpp"
#include "app/host_mode.hpp"
#include "app/redis_connection.hpp"
#include "app/reload.hpp"
#include "core/config.hpp"
#include "core/supervisor.hpp"
#include "loop/loop.hpp"
#include "simulation/children.hpp"
#include "simulation/network.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

/// Called by a host for its runs.
class HostWatcher {
 public:
  virtual ~HostWatcher() = default;
  virtual void run_over(const std::string& host, const std::string& server,
                        const EndedRun& run) = 0;
  virtual void lease_back(const RunId& run) = 0;
};

class Process;

/// Parses a config. Throws ConfigError.
ConfigPtr parse(const std::string& text);

/// Simulated machine. Its w8yd may die, be started again, and stall.
class Host final : public Inbox {
 public:
  Host(World& world, Network& network, Children& children, HostWatcher& watcher, std::string name);
  ~Host() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  void deliver(std::function<void()> what) override;

  /// Sets the content of the config file.
  void write_config(std::string text) { config_ = std::move(text); }
  /// Sets a parsed config, so that 1,000 hosts can share the configs of 1,000 lists.
  void use_config(ConfigPtr config) { read_ = std::move(config); }
  /// Sets the number of hosts in the fleet, which a real host gets with its first heartbeat.
  void fleet_has(std::size_t hosts) { hosts_ = hosts; }
  /// Makes w8yd send heartbeats and receive fleet commands from its next start on.
  void joins_fleet() { joins_fleet_ = true; }
  /// Called when w8yd has drained by a fleet command. The callee must call die() later.
  std::function<void()> on_ended;
  void start();
  /// Ends w8yd without notice, as SIGKILL or a power failure does.
  void die();
  void stall(Duration time);
  void set_date(WallTime by) { clock_.set_by += by; }
  void reload();
  void quiet(bool on);
  void drain(std::function<void()> drained);
  /// Cancels a run, as an operator does.
  void cancel(const RunId& run);
  void run_item(const std::string& list, const Item& item);

  [[nodiscard]] bool alive() const { return process_ != nullptr; }
  [[nodiscard]] bool stalled() const { return world_.now() < stalled_until_; }
  [[nodiscard]] Instant stalled_until() const { return stalled_until_; }
  /// nullptr if w8yd is not alive.
  [[nodiscard]] const Supervisor* supervisor() const;
  [[nodiscard]] bool connected() const;
  /// Requires that w8yd is alive.
  [[nodiscard]] HostState state() const;
  /// Host ID of this life of w8yd in its fleet.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// Number of bytes that are not sent to Redis yet, or held for long items.
  [[nodiscard]] std::size_t kept() const;
  /// Redis in the running config. Empty if there is none.
  [[nodiscard]] std::string server() const;
  [[nodiscard]] Instant started() const { return started_; }

 private:
  friend class Process;
  void turn(const std::function<void()>& what);
  void come_again();

  World& world_;
  Network& network_;
  Children& children_;
  HostWatcher& watcher_;
  const std::string name_;
  HostClock clock_;
  Random random_;
  std::string config_;
  ConfigPtr read_;
  std::size_t hosts_ = 1;
  bool joins_fleet_ = false;
  std::string id_;
  int pid_ = 100;
  Instant started_{};
  Instant stalled_until_{};
  std::vector<std::function<void()>> waiting_;  ///< until the end of the stall
  bool in_turn_ = false;
  std::optional<Instant> next_turn_;
  std::uint64_t life_ = 0;
  std::unique_ptr<Process> process_;
};

/// Makes all Redis connections of this thread use `network`.
void use_network(Network* network, Random* random);

}  // namespace w8y::sim
