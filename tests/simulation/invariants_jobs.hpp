// Invariants of the jobs of a feed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "simulation/invariants.hpp"
#include "simulation/settings.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::sim {

class JobWatch final : public KindWatch {
 public:
  /// Maximum time from the end of the lease of a dead holder to the recovery of its job:
  /// recover_pause of each host, and the search.
  static constexpr Duration max_gone = std::chrono::seconds(8);
  /// Time of two maintenance scans, of which the current one may fail, and of the pauses of hosts
  /// that wait to maintain.
  static constexpr Duration max_looks = 3 * std::chrono::seconds(feed_maintenance_s) + max_gone;

  JobWatch(Invariants& promises, const std::string& feed)
      : promises_(promises), keys_(feed), reruns_(feed + ":reruns") {}

  /// Records that a client without leases has claimed the job.
  void claimed_by_another(Server& server, const std::string& id);

  // KindWatch
  void before(Server& server, const Server::Command& command) override;
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server& server) override;
  void check(Server& server, bool room) override;
  void nothing_left(Server& server) override;

 private:
  [[nodiscard]] bool is_about_it(const Server::Command& command) const;
  void after_take(Server& server, const Server::Command& command, const Value& reply);
  void after_renew(const Server::Command& command, const Value& reply);
  void after_end(Server& server, const Server::Command& command, const Value& reply);
  // invariants_job_reruns.cpp: jobs that are put again while they are claimed
  void after_put(Server& server, const Server::Command& command, const Value& reply);
  void check_payload(Server& server, const std::string& id, const std::string& payload,
                     const std::string& who);
  /// Returns whether the finish of a run lets its job run again.
  bool finish_marked(Server& server, const std::string& id, const std::string& run);
  void check_marks(Server& server, const Server::Command& command);
  void check_waiting(Server& server);
  [[nodiscard]] std::string waiting_payload(Server& server, const std::string& id) const;

  void check_items(Server& server, const Server::Command& command);
  void check_places(Server& server, const std::string& who);
  void look_at_queue(Server& server, bool room);
  void check_notes(Server& server);
  void check_claims(Server& server);
  [[nodiscard]] bool is_claimed(Server& server, const std::string& id) const;
  [[nodiscard]] std::string about(const std::string& id) const { return keys_.feed + ' ' + id; }

  Invariants& promises_;
  const store::FeedKeys keys_;
  const std::string reruns_;  ///< hash of the payloads that wait for the end of a run
  // State before the current command.
  std::set<std::string> items_;
  std::set<std::string> claimed_;
  std::map<std::string, std::string> finished_;  ///< runs, by "redis1 id"
  std::set<std::string> others_;                 ///< "redis1 id"
  /// Payload of an accepted put that no client has claimed yet.
  struct Mark {
    std::string payload;
    bool late = false;  ///< a claim may read an earlier payload until maintenance sets this one
  };
  std::map<std::string, Mark> marks_;     ///< by "redis1 id"
  std::set<std::string> again_;           ///< jobs that run once more after their run: "redis1 id"
  std::map<std::string, Instant> waits_;  ///< time from which a payload waits without a claim
  struct Front {
    std::string id;
    Instant since{};
  };
  std::map<std::string, Front> fronts_;     ///< by server
  std::map<std::string, Instant> nowhere_;  ///< time at which it was first seen, by "redis1 id"
};

}  // namespace w8y::sim
