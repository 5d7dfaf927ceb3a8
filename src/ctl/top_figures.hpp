// What `w8yctl top` shows of a host: taken from its status, and from how that changes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "ctl/table.hpp"
#include "view/json_fields.hpp"

namespace w8y::ctl {

struct TopList {
  std::string name;  ///< escaped, as all texts here
  Cell state = "";
  std::string why;
  int rank = 0;  ///< what is wrong comes first
  std::int64_t running = 0;
  std::int64_t limit = 0;
  std::int64_t done = 0;    ///< since the start of w8yd
  std::int64_t failed = 0;  ///< the same; all ends that are no success, and not by an operator
  std::int64_t quarantined = 0;
  std::int64_t cycle_ms = 0;  ///< 0: not known
  double done_per_minute = 0;
  double failed_per_minute = 0;
};

struct TopRun {
  std::string list;
  std::string item;
  std::string run;
  Cell state = "";
  std::int64_t for_ms = 0;
  bool has_progress = false;
  double numerator = 0;
  double denominator = 0;
};

struct TopFigures {
  std::string host;
  Cell state = "";
  std::int64_t up_ms = 0;
  Cell redis = "";
  std::int64_t places_used = 0;
  std::int64_t places_limit = 0;  ///< 0: none
  std::vector<Cell> problems;
  std::vector<TopList> lists;
  std::vector<TopRun> runs;
};

/// Reads one status after the other, and remembers those of the last minute for the rates.
class TopReader {
 public:
  /// `now`: of a clock that neither stops nor jumps.
  /// `answer`: of GET /api/v1/status.
  TopFigures read(const view::JsonFields& answer, Instant now);

 private:
  struct Counts {
    std::int64_t done = 0;
    std::int64_t failed = 0;
  };
  struct Past {
    Instant at{};
    std::unordered_map<std::string, Counts> counts;  ///< of lists that had runs
  };
  void remember(const TopFigures& figures, Instant now);

  std::string host_id_;  ///< a new one: it has been started again
  std::deque<Past> past_;
};

}  // namespace w8y::ctl
