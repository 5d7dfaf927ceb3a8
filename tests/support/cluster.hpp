// Redis Cluster for a test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace w8y::test {

/// Three primaries, each with a third of the hash slots, and optionally a replica of each. A node
/// counts as failed after 500 ms.
class Cluster {
 public:
  struct Options {
    bool replicas = false;
    std::vector<std::string> config = {};
    std::string password = {};
  };

  /// Returns when all nodes agree, and the replicas are in sync.
  Cluster();
  explicit Cluster(const Options& options);

  /// Returns redis+cluster://… with these nodes.
  [[nodiscard]] std::string url(const std::vector<std::size_t>& seeds = {0}) const;
  /// Returns the owner according to a running node.
  [[nodiscard]] std::size_t owner_of(const std::string& key) const;
  [[nodiscard]] std::string slot_of(const std::string& key) const;
  [[nodiscard]] std::string id(std::size_t node) const;

  // Steps of moving a hash slot.
  void start_move(const std::string& slot, std::size_t from, std::size_t to) const;
  void move_key(const std::string& key, std::size_t from, std::size_t to) const;
  void end_move(const std::string& slot, std::size_t from, std::size_t to) const;

  /// Nodes. The first three start as primaries. Node 3 is the replica of node 0, and so on.
  std::vector<std::unique_ptr<RedisServer>> nodes;

 private:
  [[nodiscard]] const RedisServer& running() const;
};

}  // namespace w8y::test
