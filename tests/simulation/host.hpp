// A host: w8yd as its daemon puts it together, on a virtual clock and network.
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

/// Told what a host says of its runs.
class HostWatcher {
 public:
  virtual ~HostWatcher() = default;
  virtual void run_over(const std::string& host, const std::string& server,
                        const EndedRun& run) = 0;
  virtual void lease_back(const RunId& run) = 0;
};

class Process;

/// Throws ConfigError.
ConfigPtr parse(const std::string& text);

/// A machine. Its w8yd may die and be started again, and stand still for a while.
class Host final : public Inbox {
 public:
  Host(World& world, Network& network, Children& children, HostWatcher& watcher, std::string name);
  ~Host() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  void deliver(std::function<void()> what) override;

  /// What its config file says from now on.
  void write_config(std::string text) { config_ = std::move(text); }
  /// The same, read already: a thousand hosts needn't each have a thousand rules of their own.
  void use_config(ConfigPtr config) { read_ = std::move(config); }
  /// What a fleet tells each host with its first beat.
  void fleet_has(std::size_t hosts) { hosts_ = hosts; }
  /// From its next start on, it is seen in its fleet, and hears orders to that.
  void joins_fleet() { joins_fleet_ = true; }
  /// Told when its w8yd has drained by an order to its fleet. It is to die then.
  std::function<void()> on_ended;
  void start();
  /// Without a word: kill -9, or the power.
  void die();
  void stall(Duration time);
  void set_date(WallTime by) { clock_.set_by += by; }
  void reload();
  void quiet(bool on);
  void drain(std::function<void()> drained);
  /// SIGTERM, by an operator.
  void cancel(const RunId& run);
  void run_item(const std::string& list, const Item& item);

  [[nodiscard]] bool alive() const { return process_ != nullptr; }
  [[nodiscard]] bool stalled() const { return world_.now() < stalled_until_; }
  [[nodiscard]] Instant stalled_until() const { return stalled_until_; }
  /// nullptr: it is not alive.
  [[nodiscard]] const Supervisor* supervisor() const;
  [[nodiscard]] bool connected() const;
  /// Of one that is alive.
  [[nodiscard]] HostState state() const;
  /// Of its w8yd's life, as its fleet knows it.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// Bytes that it keeps for Redis, and of items.
  [[nodiscard]] std::size_t kept() const;
  /// That its config in force names; empty: it names none.
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
  std::vector<std::function<void()>> waiting_;  ///< until it goes on
  bool in_turn_ = false;
  std::optional<Instant> next_turn_;
  std::uint64_t life_ = 0;
  std::unique_ptr<Process> process_;
};

/// Its connections come from `network`, in this thread.
void use_network(Network* network, Random* random);

}  // namespace w8y::sim
