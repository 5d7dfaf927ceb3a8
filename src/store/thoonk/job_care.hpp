// What a feed of jobs needs besides its runs: the port between deciding when to look for it
// (JobUpkeep) and doing that in Redis.
#pragma once

#include <optional>
#include <string>

#include "core/list_config.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::store::thoonk {

class JobCareHandler {
 public:
  virtual ~JobCareHandler() = default;
  /// `next`: when another lease may be over; none: no host holds a job, or it could not be asked.
  virtual void on_recovered(std::optional<Duration> next) = 0;
  /// `error`: why it could not be done, where that is about this feed; else empty.
  virtual void on_maintained(const MaintenanceResult& result, const std::string& trouble) = 0;
  /// Redis is back.
  virtual void on_back() = 0;
};

/// One call at a time. Never calls its handler from inside a call of its own; callbacks stop when
/// it is destroyed.
class JobCare {
 public:
  virtual ~JobCare() = default;
  virtual void use(ListConfigPtr rule) = 0;
  /// Claims of hosts that are gone are taken back; answered by one on_recovered().
  virtual void recover() = 0;
  /// The same and all the rest, as long as no other host does it; answered by one on_maintained().
  virtual void maintain() = 0;
};

}  // namespace w8y::store::thoonk
