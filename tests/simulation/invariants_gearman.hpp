// Invariants of Gearman jobs: w8y.toml(5), GEARMAN. They are checked at the gearmands, at the child
// processes, at the hosts, and at the run records in Redis.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "simulation/gearmand.hpp"
#include "simulation/invariants.hpp"

namespace w8y::sim {

class GearmanWatch final : public KindWatch, public Gearmand::Watcher {
 public:
  GearmanWatch(Invariants& promises, std::string list)
      : promises_(promises), list_(std::move(list)) {}

  /// Records a fault of a host, of a gearmand, or of a connection ("host gearmand").
  void error(const std::string& affected, Duration time);
  [[nodiscard]] bool in_error(const std::string& host, const std::string& gearmand,
                              Instant since) const;
  /// Called every second.
  void check();
  /// Checks that no runs and no assigned jobs are left when all hosts have left.
  void nothing_left();
  /// Number of assignments and returns of jobs since the start.
  [[nodiscard]] std::uint64_t moves(const std::string& gearmand) { return moves_[gearmand]; }
  [[nodiscard]] std::size_t held_by(const std::string& host, const std::string& gearmand) const;
  /// Returns the current concurrency of the list on a host.
  std::function<std::size_t(const std::string& host)> concurrency_of;

  // Gearmand::Watcher
  void given(Gearmand& at, const GearmanJob& job, const Gearmand::Who& to) override;
  void ended(Gearmand& at, const GearmanJob& job, const Gearmand::Who& by,
             Gearmand::Ending how) override;
  void given_back(Gearmand& at, const GearmanJob& job, const Gearmand::Who& by,
                  bool asked) override;
  void strange_end(Gearmand& at, const Gearmand::Who& by, const std::string& handle) override;
  void forgot_all(Gearmand& at) override;
  // KindWatch
  void before(Server&, const Server::Command&) override {}
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server&) override {}
  void check(Server&, bool) override {}
  void nothing_left(Server&) override {}
  bool child_born(const Child& child) override;
  bool child_dead(const Child& child) override;
  bool run_over(const std::string& host, const EndedRun& run) override;

 private:
  /// Job that was assigned to a host, and its progress there.
  struct Given {
    std::string gearmand;
    std::string id;
    std::string handle;
    std::string host;
    std::uint64_t session = 0;
    Instant at{};
    bool held = true;  ///< by gearmand
    std::string run{};
    bool alive = false;
    bool sends_complete = false;
    std::string outcome{};   ///< empty until the run has ended
    bool goes_back = false;  ///< the host has stopped it for a reason of its own
    Instant ended{};
    std::optional<Gearmand::Ending> reported{};  ///< result that gearmand has accepted
    std::size_t limit = 0;  ///< concurrency at the assignment; a reload may have lowered it since
  };

  [[nodiscard]] static bool is_host(const std::string& name) { return name.starts_with('h'); }
  [[nodiscard]] std::string about(const std::string& id) const { return list_ + ' ' + id; }
  Given* held(const Gearmand& at, std::uint64_t session, const std::string& handle);
  void check_record(const std::string& entry, const std::string& who);

  Invariants& promises_;
  const std::string list_;
  std::deque<Given> givens_;  ///< in the order of their assignment
  std::map<RunId, Given*> runs_;
  std::map<std::string, std::set<RunId>> living_;  ///< runs, by host
  std::map<std::string, std::size_t> limits_;      ///< concurrency of the last run, by host
  std::map<std::string, Instant> error_until_;
  std::map<std::string, std::uint64_t> moves_;
};

}  // namespace w8y::sim
