// Gearman in a world: two gearmands, their clients, workers that are not hosts, and faults.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulation/faults.hpp"
#include "simulation/gearmand.hpp"
#include "simulation/host.hpp"
#include "simulation/invariants_gearman.hpp"
#include "simulation/settings.hpp"

namespace w8y::sim {

/// World to which the gearmands belong.
struct GearmanContext {
  World& world;
  Network& network;
  Invariants& promises;
  Children& children;
  const std::vector<std::unique_ptr<Host>>& hosts;
  std::map<std::string, Settings>& settings_of;  ///< by host
  std::function<Server&(const std::string&)> redis;
  Instant calm;
};

class GearmanClient;
class OtherWorker;

class GearmanScene {
 public:
  GearmanScene(const GearmanContext& place, Random random);
  ~GearmanScene();
  GearmanScene(const GearmanScene&) = delete;
  GearmanScene& operator=(const GearmanScene&) = delete;

  void begin(const Fault& fault);
  /// Called when a connection broke. Returns false if it was not a connection to a gearmand.
  bool lost(const std::string& host, const std::string& server);
  /// Called when all hosts have left.
  void nothing_left();

 private:
  void put_jobs();
  void put_job(Gearmand& at);
  void start_line(const Fault& fault, Gearmand& at);
  void start_break(const Fault& fault, Gearmand& at);
  void change_list(const Fault& fault);
  void pause(const Fault& fault);
  void cancel(Host& whose);
  void check();
  void look_at_queue(Gearmand& at, const std::string& function);
  void check_connections(Gearmand& at, const Host& host);
  void check_packets(Gearmand& at, const Host& host);
  bool accepts(const Gearmand& at, const std::string& function, const Host& host);
  bool believes_paused(const Host& host);
  Duration for_how_long(const std::string& what, bool is);
  [[nodiscard]] bool is_calm() const;
  Gearmand& gearmand_of(const Fault& fault) { return fault.server == "redis1" ? first_ : second_; }
  Host& host(const std::string& name);

  const GearmanContext place_;
  Random random_;
  Gearmand first_;
  Gearmand second_;
  GearmanWatch* watch_;
  Duration put_pause_{0};
  std::uint64_t jobs_put_ = 0;
  std::vector<std::shared_ptr<GearmanClient>> clients_;
  std::vector<std::unique_ptr<OtherWorker>> workers_;
  std::map<std::string, Instant> since_;
  std::map<std::string, bool> believes_paused_;  ///< by host
  struct Window {
    Instant since{};
    std::uint64_t packets = 0;
    std::uint64_t moves = 0;
    std::uint64_t jobs = 0;
  };
  std::map<std::string, Window> windows_;  ///< by host and gearmand
};

}  // namespace w8y::sim
