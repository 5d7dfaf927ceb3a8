// What w8y promises of jobs of Gearman: w8y.toml(5), GEARMAN. Watched at the gearmands, at the
// kernel, at the hosts, and where Redis is told of ends.
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

  /// Something is in the way of a host, of a gearmand, or of a "host gearmand".
  void error(const std::string& whom, Duration time);
  [[nodiscard]] bool in_error(const std::string& host, const std::string& gearmand,
                              Instant since) const;
  /// Each second.
  void look();
  /// Runs that live, and jobs that hosts hold, when all have left.
  void nothing_left();
  /// That were given to hosts, or came back, since the beginning.
  [[nodiscard]] std::uint64_t moves(const std::string& gearmand) { return moves_[gearmand]; }
  [[nodiscard]] std::size_t held_by(const std::string& host, const std::string& gearmand) const;
  /// What a host's list allows now.
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
  void look(Server&, bool) override {}
  void nothing_left(Server&) override {}
  bool child_born(const Child& child) override;
  bool child_dead(const Child& child) override;
  bool run_over(const std::string& host, const EndedRun& run) override;

 private:
  /// A job that a host was given, and what became of it there.
  struct Given {
    std::string gearmand;
    std::string id;
    std::string handle;
    std::string host;
    std::uint64_t session = 0;
    Instant at{};
    bool held = true;  ///< as gearmand has it
    std::string run{};
    bool alive = false;
    bool says_complete = false;
    std::string outcome{};   ///< empty: it is not over
    bool goes_back = false;  ///< this host has ended it for a reason of its own
    Instant over{};
    std::optional<Gearmand::Ending> told{};  ///< to gearmand, which has taken it
    std::size_t limit = 0;  ///< concurrency when it was given: a reload may have lowered it since
  };

  [[nodiscard]] static bool is_host(const std::string& name) { return name.starts_with('h'); }
  [[nodiscard]] std::string about(const std::string& id) const { return list_ + ' ' + id; }
  Given* held(const Gearmand& at, std::uint64_t session, const std::string& handle);
  void check_record(const std::string& entry, const std::string& who);

  Invariants& promises_;
  const std::string list_;
  std::deque<Given> givens_;  ///< the last one was given last
  std::map<RunId, Given*> runs_;
  std::map<std::string, std::set<RunId>> living_;  ///< runs, by host
  std::map<std::string, std::size_t> limits_;      ///< of the last run of a host
  std::map<std::string, Instant> error_until_;
  std::map<std::string, std::uint64_t> moves_;
};

}  // namespace w8y::sim
