// What this host knows of its fleet's figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/status.hpp"
#include "view/list_stats.hpp"

namespace w8y::app {

class KnownFigures {
 public:
  explicit KnownFigures(const Clock& clock) : clock_(clock) {}

  /// `age`: since Redis was asked. What is known already keeps its age.
  void note(const std::string& prefix, const ListFigures& figures, Duration age);
  void note(const FleetCounts& counts) { fleet_ = counts; }
  /// They are of another Redis.
  void forget();
  /// nullptr: not known, or too old to be shown.
  [[nodiscard]] const ListFigures* find(const std::string& prefix) const;
  /// Of any age.
  [[nodiscard]] std::vector<LapAt> cycles(const std::string& prefix) const;
  /// Of any age: how long ago Redis was asked.
  [[nodiscard]] std::optional<Duration> age(const std::string& prefix) const;
  [[nodiscard]] const std::optional<FleetCounts>& fleet() const { return fleet_; }
  void add_to(ListStatus& status) const;

 private:
  struct Known {
    ListFigures figures;
    Instant at{};
  };
  const Clock& clock_;
  std::map<std::string, Known> lists_;  ///< by prefix
  std::optional<FleetCounts> fleet_;
};

}  // namespace w8y::app
