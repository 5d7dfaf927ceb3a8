// Data that `w8yctl top` shows of the fleet and of a host: its status, and rates that follow from
// earlier ones.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/status.hpp"
#include "view/fleet_lists.hpp"
#include "view/json_fields.hpp"
#include "view/list_view.hpp"
#include "view/problems.hpp"

namespace w8y::ctl {

struct TopList {
  ListStatus status;  ///< of this host
  ListTotals totals;  ///< of the fleet
  double done_per_minute = 0;
  double failed_per_minute = 0;

  [[nodiscard]] std::uint64_t done() const { return status.counters.succeeded; }
  /// Runs that did not succeed, without those that an operator cancelled.
  [[nodiscard]] std::uint64_t failed() const { return view::failures(status.counters); }
};

struct TopSnapshot {
  HostStatus host;
  FleetSummary fleet;
  std::vector<ShownProblem> problems;
  std::vector<TopList> lists;
};

/// Reads successive statuses, and keeps the counters of the last minute for the rates.
class TopReader {
 public:
  /// `now`: of a monotonic clock. `answer`: response of GET /api/v1/status.
  TopSnapshot read(const view::JsonFields& answer, Instant now);

 private:
  struct Counts {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
  };
  struct Totals {
    Instant at{};
    std::unordered_map<std::string, Counts> counts;  ///< of lists that had runs
  };
  void remember(const TopSnapshot& stats, Instant now);

  std::string host_id_;  ///< another one: w8yd was restarted
  std::deque<Totals> past_;
};

}  // namespace w8y::ctl
