// Invariants of the jobs of a feed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "simulation/invariants.hpp"
#include "store/thoonk/keys.hpp"

namespace w8y::sim {

class JobWatch final : public KindWatch {
 public:
  JobWatch(Invariants& promises, const std::string& feed) : promises_(promises), keys_(feed) {}

  /// Records that a client without leases has claimed the job.
  void claimed_by_another(const Server& server, const std::string& id) {
    others_.insert(server.name() + ' ' + id);
  }

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
  void check_items(Server& server, const Server::Command& command);
  void check_places(Server& server, const std::string& who);
  void look_at_queue(Server& server, bool room);
  void check_notes(Server& server);
  void check_claims(Server& server);
  [[nodiscard]] bool is_claimed(Server& server, const std::string& id) const;
  [[nodiscard]] std::string about(const std::string& id) const { return keys_.feed + ' ' + id; }

  Invariants& promises_;
  const store::FeedKeys keys_;
  // State before the current command.
  std::set<std::string> items_;
  std::set<std::string> claimed_;
  std::map<std::string, std::string> finished_;  ///< runs, by "redis1 id"
  std::set<std::string> others_;                 ///< "redis1 id"
  struct Front {
    std::string id;
    Instant since{};
  };
  std::map<std::string, Front> fronts_;     ///< by server
  std::map<std::string, Instant> nowhere_;  ///< time at which it was first seen, by "redis1 id"
};

}  // namespace w8y::sim
