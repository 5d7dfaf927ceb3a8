// What hosts do with circular lists by plain commands, where they may not run scripts: seen in
// their SETs and in what EXEC carries out, and held to the same promises.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "simulation/promises.hpp"

namespace w8y::sim {

class PlainWatch final : public KindWatch {
 public:
  /// fleet_concurrency of a list, as a host has it in force; 0: none, or not known for sure.
  using FleetLimit = std::function<std::int64_t(const std::string& host, const std::string& list)>;

  PlainWatch(Promises& promises, FleetLimit limit)
      : promises_(promises), limit_(std::move(limit)) {}

  void before(Server& server, const Server::Command& command) override;
  void after(Server& server, const Server::Command& command, const Value& reply) override;
  void lost_writes(Server&) override {}
  void look(Server&, bool) override {}
  void nothing_left(Server&) override {}

 private:
  void check_locks(Server& server, const Server::Command& command);
  void after_set(Server& server, const std::string& who, const Words& words);
  void after_exec(Server& server, const Server::Command& command, const Value& reply);
  void after_end(Server& server, const Server::Command& command, const Value& reply,
                 const std::string& run);
  void check_old(const Promises::Run& run, const std::vector<Words>& queued, const Value& reply);

  Promises& promises_;
  FleetLimit limit_;
  std::string ending_;  ///< the run that EXEC is the end of; empty: none
};

}  // namespace w8y::sim
