// What `w8yctl top` shows of a host: taken from its status, and from how that changes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/status.hpp"
#include "view/json_fields.hpp"
#include "view/list_view.hpp"
#include "view/problems.hpp"

namespace w8y::ctl {

struct TopList {
  ListStatus status;
  double done_per_minute = 0;
  double failed_per_minute = 0;

  [[nodiscard]] std::uint64_t done() const { return status.counters.succeeded; }
  /// All ends that are no success, and not by an operator.
  [[nodiscard]] std::uint64_t failed() const { return view::failures(status.counters); }
};

struct TopSnapshot {
  HostStatus host;
  std::vector<ShownProblem> problems;
  std::vector<TopList> lists;
};

/// Reads one status after the other, and remembers those of the last minute for the rates.
class TopReader {
 public:
  /// `now`: of a clock that neither stops nor jumps.
  /// `answer`: of GET /api/v1/status.
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

  std::string host_id_;  ///< a new one: it has been started again
  std::deque<Totals> past_;
};

}  // namespace w8y::ctl
