// What this host knows of its fleet's figures.
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

  /// `age`: since Redis was asked. What is known already keeps its age.
  void record(const std::string& prefix, const ListStats& stats, Duration age);
  void record(const FleetCounts& counts) { fleet_ = counts; }
  /// They are of another Redis.
  void forget();
  /// nullptr: not known, or too old to be shown.
  [[nodiscard]] const ListStats* find(const std::string& prefix) const;
  /// Of any age.
  [[nodiscard]] std::vector<CycleAt> cycles(const std::string& prefix) const;
  /// Of any age: how long ago Redis was asked.
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
