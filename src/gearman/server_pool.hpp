// The Gearman servers of a host: creates connections and reports their outages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/events.hpp"
#include "gearman/socket_worker.hpp"
#include "gearman/worker.hpp"

namespace w8y::gearman {

class ServerPool final : public Servers {
 public:
  /// `client_id` is shown by `gearadmin --workers`.
  ServerPool(loop::Loop& loop, EventHandler& events, std::uint64_t seed,
             MakeTransport make = over_tcp);

  /// Sets the servers of a config. Takes effect at once, also for lists that run.
  void use(const GearmanServers& settings, const std::string& client_id);
  [[nodiscard]] std::vector<GearmanStatus> status() const;

  [[nodiscard]] const std::vector<GearmanServer>& servers() const override {
    return settings_.servers;
  }
  std::unique_ptr<Worker> connect(const GearmanServer& server, WorkerHandler& handler) override;
  void add(ServersUser& user) override { users_.insert(&user); }
  void remove(ServersUser& user) override { users_.erase(&user); }
  void told_up(const Worker& worker) override;
  void told_down(const Worker& worker, const std::string& why) override;
  void forget(const Worker& worker) override;
  void on_problem(const GearmanServer& server, const std::string& list,
                  const std::string& why) override;

 private:
  struct Known {
    std::set<const Worker*> away;
    bool reached = false;  ///< a connection was up at least once
    std::string error;     ///< first reason of the outage; empty: none
    Instant since{};
  };

  void recover(const GearmanServer& server, Known& known);

  loop::Loop& loop_;
  EventHandler& events_;
  GearmanServers settings_;
  std::string client_id_;
  std::uint64_t seed_;
  const MakeTransport make_;
  std::set<ServersUser*> users_;
  std::map<GearmanServer, Known> known_;
};

}  // namespace w8y::gearman
