// A cluster of a test's own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace w8y::test {

/// Three primaries, each with a third of the slots, and a replica of each if asked. A node is
/// missed after half a second.
class Cluster {
 public:
  struct Options {
    bool replicas = false;
    std::vector<std::string> config = {};
    std::string password = {};
  };

  /// Returns when everybody agrees, and the replicas are there.
  Cluster();
  explicit Cluster(const Options& options);

  /// redis+cluster://… with these nodes.
  [[nodiscard]] std::string url(const std::vector<std::size_t>& seeds = {0}) const;
  /// By what a running node says.
  [[nodiscard]] std::size_t owner_of(const std::string& key) const;
  [[nodiscard]] std::string slot_of(const std::string& key) const;
  [[nodiscard]] std::string id(std::size_t node) const;

  // The steps of moving a slot.
  void start_move(const std::string& slot, std::size_t from, std::size_t to) const;
  void move_key(const std::string& key, std::size_t from, std::size_t to) const;
  void end_move(const std::string& slot, std::size_t from, std::size_t to) const;

  /// The first three began as the primaries; 3 is the replica of 0, and so on.
  std::vector<std::unique_ptr<RedisServer>> nodes;

 private:
  [[nodiscard]] const RedisServer& running() const;
};

}  // namespace w8y::test
