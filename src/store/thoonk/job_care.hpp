// Maintenance of a feed of jobs, the port between JobUpkeep, which decides when to do it, and
// Redis.
#pragma once

#include <optional>
#include <string>

#include "core/list_config.hpp"
#include "store/thoonk/job_maintenance.hpp"

namespace w8y::store::thoonk {

class JobCareHandler {
 public:
  virtual ~JobCareHandler() = default;
  /// `next`: time until another lease may end; nullopt if no host holds a job, or Redis is
  /// unavailable.
  virtual void on_recovered(std::optional<Duration> next) = 0;
  /// `trouble`: the error if it is about this feed; else empty.
  virtual void on_maintained(const MaintenanceResult& result, const std::string& trouble) = 0;
  /// Called when Redis is available again.
  virtual void on_back() = 0;
};

/// One call at a time. Never calls its handler from inside one of its own calls. Callbacks stop
/// when it is destroyed.
class JobCare {
 public:
  virtual ~JobCare() = default;
  virtual void use(ListConfigPtr rule) = 0;
  /// Recovers claims of hosts that no longer exist. One on_recovered() follows.
  virtual void recover() = 0;
  /// Recovers claims and does all other maintenance, unless another host does it. One
  /// on_maintained() follows.
  virtual void maintain() = 0;
};

}  // namespace w8y::store::thoonk
