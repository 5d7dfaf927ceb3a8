// Virtual gearmand: functions, their queues, workers and clients. It uses the packets of a real
// gearmand. It keeps its jobs in memory, as a gearmand without a queue plugin does.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "simulation/gearman_packets.hpp"
#include "simulation/service.hpp"
#include "simulation/world.hpp"

namespace w8y::sim {

struct GearmanJob {
  std::string handle;
  std::string function;
  std::string unique;  ///< may be empty
  std::string workload;
  std::size_t priority = 1;  ///< 0: high
  std::uint64_t worker = 0;  ///< session that has the job; 0: it is queued
  std::set<std::uint64_t> clients{};
  bool dropped = false;  ///< all clients are gone: no worker gets it any more
  Instant since{};       ///< it is queued
  /// ID that an executor of w8y gets.
  [[nodiscard]] const std::string& id() const { return unique.empty() ? handle : unique; }
};

class Gearmand final : public Service {
 public:
  /// Worker and its connection.
  struct Who {
    const std::string& name;
    std::uint64_t session;
  };
  enum class Ending { complete, fail };
  /// Observer of jobs.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void given(Gearmand& at, const GearmanJob& job, const Who& to) = 0;
    virtual void ended(Gearmand& at, const GearmanJob& job, const Who& by, Ending how) = 0;
    /// The job is queued again. `asked`: the worker sent CANT_DO for the function.
    virtual void given_back(Gearmand& at, const GearmanJob& job, const Who& by, bool asked) = 0;
    /// A worker has sent a result for a job that its connection does not have.
    virtual void strange_end(Gearmand& at, const Who& by, const std::string& handle) = 0;
    /// gearmand has lost all its jobs.
    virtual void forgot_all(Gearmand& at) = 0;
  };

  Gearmand(World& world, std::string name) : world_(world), name_(std::move(name)) {}

  Watcher* watcher = nullptr;

  // Service
  [[nodiscard]] const std::string& name() const override { return name_; }
  void tried(const std::string&) override {}
  [[nodiscard]] bool accepts() const override { return up_; }
  [[nodiscard]] bool hangs() const override { return hung_; }
  void connected(Peer& peer) override;
  void gone(Peer& peer) override;
  void received(Peer& peer, std::string bytes) override;

  // Faults.
  void restart(Duration away);
  void hang(bool hung);

  // State.
  [[nodiscard]] const std::map<std::string, GearmanJob>& jobs() const { return jobs_; }
  [[nodiscard]] std::size_t waiting(const std::string& function) const;
  /// Returns the job that has been queued for the longest time; nullptr if none is queued.
  [[nodiscard]] const GearmanJob* max_waiting(const std::string& function) const;
  /// Number of connections of a worker.
  [[nodiscard]] std::size_t sessions_of(const std::string& who) const;
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  /// Number of packets from a worker.
  [[nodiscard]] std::uint64_t packets_of(const std::string& who) const;
  /// Reply to "status" of the administrator: function, all jobs, running jobs, workers.
  [[nodiscard]] std::string status() const;

 private:
  struct Ability {
    std::string function;
    std::vector<std::string> jobs;  ///< handles, in the order of their assignment
  };
  struct Session {
    std::uint64_t number = 0;
    std::string who{};
    std::string input{};
    std::deque<Ability> abilities{};  ///< in the order in which they are served
    bool asleep = false;
    bool woken = false;  ///< by a NOOP since its last request for a job
  };
  struct Function {
    std::array<std::deque<std::string>, 3> queues{};  ///< handles, by priority
  };

  void work(Peer& peer);
  void handle_packet(Peer& peer, Session& session, const GearmanPacket& packet);
  void handle_worker(Peer& peer, Session& session, const GearmanPacket& packet);
  void submit(Peer& peer, Session& session, const GearmanPacket& packet);
  void grab(Peer& peer, Session& session, bool unique);
  GearmanJob* next_job(Session& session);
  [[nodiscard]] bool has_job(Session& session);
  void pre_sleep(Peer& peer, Session& session);
  void send_noops(Peer& peer, Session& session, const GearmanPacket& packet);
  void end(Session& session, GearmanJob& job, Ending how);
  void queue(GearmanJob& job);
  void give_back(Session& session, Ability& ability, bool asked);
  void cant_do(Session& session, const std::string& function);
  void forget(const std::string& handle);
  GearmanJob* job_of(const Session& session, const std::string& handle);
  void send_to_clients(const GearmanJob& job, const std::string& bytes);
  void send(Peer& peer, const Session& session, std::string bytes);

  World& world_;
  const std::string name_;
  bool up_ = true;
  bool hung_ = false;
  std::uint64_t sessions_made_ = 0;
  std::uint64_t jobs_made_ = 0;
  std::map<Peer*, Session> sessions_;
  std::map<std::uint64_t, Peer*> order_;  ///< by the number of the session
  std::map<std::string, Function> functions_;
  std::map<std::string, GearmanJob> jobs_;  ///< by handle
  std::map<std::string, std::uint64_t> packets_;
};

}  // namespace w8y::sim
