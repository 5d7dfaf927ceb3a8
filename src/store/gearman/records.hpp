// Records of Gearman lists in Redis, as a port. Their jobs are in gearmand.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/ended_run.hpp"
#include "core/source.hpp"

namespace w8y::store {

class GearmanRecordsHandler {
 public:
  /// Called from the loop when the pause has changed, or is known for the first time.
  virtual void on_pause() = 0;
  /// Called from the loop when pending() has become 0.
  virtual void on_recorded() = 0;
  /// Called from the loop. `why`: the write error; empty = writes succeed again.
  virtual void on_record_refused(const std::string& why) = 0;

 protected:
  ~GearmanRecordsHandler() = default;
};

/// Pause by an operator, events of runs, and their history.
class GearmanRecords {
 public:
  virtual ~GearmanRecords() = default;
  virtual void use(ListConfigPtr rule) = 0;
  /// Returns whether the pause is known, or Redis is unavailable.
  [[nodiscard]] virtual bool ready() const = 0;
  /// Returns the last known pause: the reason, which may be empty; nullopt = not paused. Kept while
  /// Redis is unavailable.
  [[nodiscard]] virtual const std::optional<std::string>& pause() const = 0;
  virtual void announce(const RunEvent& event) = 0;
  /// Adds a run record to the history and publishes the event.
  virtual void enter(EndedRun&& run) = 0;
  /// Returns the number of run records that Redis has not confirmed, while it is available. Records
  /// are kept for a limited time during an outage and then dropped: no job depends on them.
  [[nodiscard]] virtual std::size_t pending() const = 0;
};

}  // namespace w8y::store
