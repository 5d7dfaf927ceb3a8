// Invariants of the jobs of a schedule.
#pragma once

#include <map>
#include <set>
#include <string>

#include "simulation/invariants.hpp"
#include "store/schedule/keys.hpp"

namespace w8y::sim {

class ScheduleWatch final : public KindWatch {
 public:
  ScheduleWatch(Invariants& promises, const std::string& prefix)
      : promises_(promises), prefix_(prefix), keys_(prefix) {}

  /// Records that a worker of Redbike has claimed the job. If the worker dies, the job does not run
  /// until it is set again.
  void claimed_by_another(const Server& server, const std::string& job) {
    others_.insert(server.name() + ' ' + job);
  }

  // KindWatch
  void before(Server& server, const Server::Command& command) override;
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server& server) override;
  void check(Server& server, bool room) override;
  void nothing_left(Server& server) override;

 private:
  void after_take(Server& server, const Server::Command& command, const Value& reply);
  void after_renew(const Server::Command& command, const Value& reply);
  void after_dispatch(Server& server);
  void check_places(Server& server, const std::string& who);
  void check_timeline(Server& server);
  void check_queues(Server& server, bool room);
  void check_notes(Server& server);
  [[nodiscard]] bool is_worked_on(Server& server, const std::string& job) const;
  [[nodiscard]] std::string about(const std::string& job) const { return prefix_ + ' ' + job; }

  Invariants& promises_;
  const std::string prefix_;
  const store::ScheduleKeys keys_;
  std::map<std::string, double> due_before_;  ///< times on the timeline before a dispatch
  std::set<std::string> others_;              ///< "redis1 job"
  struct Front {
    std::string job;
    Instant since{};
  };
  std::map<std::string, Front> fronts_;  ///< of queues, by server and key
};

}  // namespace w8y::sim
