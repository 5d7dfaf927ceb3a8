// What is in Redis of lists of Gearman: the port. Their jobs are gearmand's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/ended_run.hpp"
#include "core/source.hpp"

namespace w8y::store {

class GearmanRecordsHandler {
 public:
  /// Whether the list is paused is another, or is known now. From the loop.
  virtual void on_pause() = 0;
  /// pending() has become 0. From the loop.
  virtual void on_recorded() = 0;
  /// What Redis refuses of it; empty: nothing any more. From the loop.
  virtual void on_record_refused(const std::string& why) = 0;

 protected:
  ~GearmanRecordsHandler() = default;
};

/// An operator's pause, news of runs, and their history.
class GearmanRecords {
 public:
  virtual ~GearmanRecords() = default;
  virtual void use(ListConfigPtr rule) = 0;
  /// Redis has said whether the list is paused, or can't be asked.
  [[nodiscard]] virtual bool ready() const = 0;
  /// The pause as far as is known: the reason, which may be empty. While Redis is away, what was
  /// known last.
  [[nodiscard]] virtual const std::optional<std::string>& pause() const = 0;
  virtual void announce(const RunEvent& event) = 0;
  /// Into the history, and told on the channel of events.
  virtual void enter(EndedRun&& run) = 0;
  /// Entries that Redis has not confirmed, while it can be reached. What it can't be told is kept
  /// for a while, and then forgotten: no job depends on it.
  [[nodiscard]] virtual std::size_t pending() const = 0;
};

}  // namespace w8y::store
