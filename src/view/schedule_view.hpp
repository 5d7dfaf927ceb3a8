// Statistics of schedules and of feeds of jobs, as in GET /api/v1/schedules and /feeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "view/field.hpp"

namespace w8y::view {

struct ScheduleView {
  struct Queue {
    std::string code;
    std::int64_t queued = 0;
  };
  struct DueJob {
    std::string job;
    std::optional<WallTime> due;
  };
  std::string list;
  std::string key_prefix;
  bool halted = false;
  std::vector<Queue> queues;  ///< of the config
  std::int64_t timeline = 0;  ///< jobs on the timeline
  std::int64_t late = 0;      ///< jobs that are due and not queued yet
  std::vector<DueJob> next;   ///< the first jobs on the timeline
  /// Number of jobs that become due in each quarter of an hour of the next day; empty if there are
  /// none.
  std::vector<std::int64_t> due_per_15min;
};

struct FeedView {
  std::string list;
  std::int64_t queued = 0;
  std::int64_t claimed = 0;
  std::int64_t cancelled = 0;
  std::int64_t stalled = 0;
  std::int64_t published = 0;      ///< since the feed was created
  std::int64_t finished = 0;       ///< since the feed was created
  std::optional<WallTime> oldest;  ///< time at which the next job to claim was published
};

std::string to_json(const ScheduleView& schedule);
std::string to_json(const FeedView& feed);

}  // namespace w8y::view
