// A zone of the host's database, and the wall clock in it. libical 3 is not used for zones: it
// takes up to 40 ms for a zone, again for each period of some years, and is wrong for some zones
// (Lord Howe Island from 2038 on, São Paulo in 2014).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/civil.hpp"
#include "schedule/schedule.hpp"
#include "schedule/zone_rule.hpp"

namespace w8y::schedule {

/// Content of a file of the zone database.
struct ZoneData {
  struct Change {
    UnixSeconds at = 0;
    int offset = 0;  ///< seconds east of UTC from `at` on
  };
  int first_offset = 0;           ///< seconds east of UTC before the first change
  std::vector<Change> changes;    ///< in order
  std::optional<ZoneRule> later;  ///< for times after the last change
};

/// Parses a TZif file, version 2 or later. nullopt if it is not one.
std::optional<ZoneData> read_zone_data(std::string_view bytes);

class Zone {
 public:
  Zone(std::string name, ZoneData data) : name_(std::move(name)), data_(std::move(data)) {}

  static std::shared_ptr<const Zone> utc();
  /// Finds a zone by name, such as Europe/Berlin. Zones are cached, and read again when the file
  /// has changed. Throws ScheduleError.
  static std::shared_ptr<const Zone> find(std::string_view name);

  const std::string& name() const noexcept { return name_; }
  int offset_at(UnixSeconds time) const;
  Wall wall(UnixSeconds time) const { return time + offset_at(time); }
  /// Instant at which the clock shows `wall`; the first one if there are two. If clocks are put
  /// forward over `wall`, there is none; the result then uses the offset after the change, as
  /// dateutil does.
  UnixSeconds when(Wall wall) const;

 private:
  std::string name_;
  ZoneData data_;
};

}  // namespace w8y::schedule
