// Problems of the fleet: hosts that have died, are quiet or draining, or are short of resources;
// failed reloads, outdated configs, clocks, and lists that no host serves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "view/fleet.hpp"
#include "view/problems.hpp"

namespace w8y {

/// Collects problems host by host, so that the lists of only one host are in memory.
class FleetProblems {
 public:
  /// Difference to the clock of Redis from which the clock of a host is a problem.
  static constexpr WallTime max_clock_offset{5000};

  /// `now`: by the clock of Redis.
  explicit FleetProblems(WallTime now) : now_(now) {}
  /// Adds a host with its lists.
  void add(const FleetHost& host);
  /// Returns all problems, the most severe first.
  [[nodiscard]] std::vector<Problem> drain();

 private:
  struct Served {
    bool by_any = false;
    std::string why;  ///< why the first host cannot serve it, with the name of the host
  };
  void add(Problem::Kind kind, const std::string& host, std::string text);
  void add_lists(Problem::Kind kind, const std::string& host, const std::string& start,
                 std::vector<std::string>&& lists, const std::string& why);

  const WallTime now_;
  std::vector<Problem> found_;
  std::map<std::string, Served> lists_;  ///< by prefix
};

}  // namespace w8y
