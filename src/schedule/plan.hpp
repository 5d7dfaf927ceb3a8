// What a Recurrence knows.
#pragma once

#include <string>

#include "schedule/schedule.hpp"

namespace w8y::schedule {

struct Plan {
  std::string zone = "UTC";
  UnixSeconds start = 0;
  UnixSeconds period = 1;  ///< seconds from one time to the next
  UnixSeconds last = latest_time;
};

}  // namespace w8y::schedule
