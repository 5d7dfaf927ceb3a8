// Statistics of the fleet that this host knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "view/list_stats.hpp"

namespace w8y::app {

class ListStatsCache {
 public:
  explicit ListStatsCache(const Clock& clock) : clock_(clock) {}

  /// Stores statistics. `age`: time since Redis reported them.
  void record(const std::string& prefix, const ListStats& stats, Duration age);
  void record(const FleetCounts& counts) { fleet_ = counts; }
  /// Removes all statistics, because the Redis is another one.
  void forget();
  /// Returns the statistics of a list. nullptr: not known, or too old to be shown.
  [[nodiscard]] const ListStats* find(const std::string& prefix) const;
  /// Returns the cycle times of a list, however old.
  [[nodiscard]] std::vector<CycleAt> cycles(const std::string& prefix) const;
  /// Returns the time since Redis reported the statistics, however old.
  [[nodiscard]] std::optional<Duration> age(const std::string& prefix) const;
  [[nodiscard]] const std::optional<FleetCounts>& fleet() const { return fleet_; }
  void add_to(ListStatus& status) const;

 private:
  struct Entry {
    ListStats stats;
    Instant at{};
  };
  const Clock& clock_;
  std::map<std::string, Entry> lists_;  ///< by prefix
  std::optional<FleetCounts> fleet_;
};

}  // namespace w8y::app
