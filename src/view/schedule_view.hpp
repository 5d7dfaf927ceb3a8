// Schedules and feeds of jobs in numbers, as GET /api/v1/schedules and /feeds show them.
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
  bool halted = false;
  std::vector<Queue> queues;  ///< of the config
  std::int64_t timeline = 0;  ///< jobs on the timeline
  std::int64_t late = 0;      ///< due, and in no queue yet
  std::vector<DueJob> next;   ///< the first jobs on the timeline
  /// Jobs that are due in each quarter of an hour of the next day; empty if there are none.
  std::vector<std::int64_t> due_per_15min;
};

struct FeedView {
  std::string list;
  std::int64_t queued = 0;
  std::int64_t claimed = 0;
  std::int64_t cancelled = 0;
  std::int64_t stalled = 0;
  std::int64_t published = 0;      ///< since the feed was created
  std::int64_t finished = 0;       ///< the same
  std::optional<WallTime> oldest;  ///< when the job was put that is claimed next
};

std::string to_json(const ScheduleView& schedule);
std::string to_json(const FeedView& feed);

}  // namespace w8y::view
