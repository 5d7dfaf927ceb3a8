// A zone of the host's database, and what the clocks there show. Read by ourselves: libical 3 takes
// up to 40 ms for a zone, again for each few years that it is asked about, and is wrong in some
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

/// What a file of the zone database says.
struct ZoneData {
  struct Change {
    UnixSeconds at = 0;
    int offset = 0;  ///< from then on: seconds east of UTC
  };
  int first_offset = 0;           ///< before the first change
  std::vector<Change> changes;    ///< in order
  std::optional<ZoneRule> later;  ///< after the last change
};

/// nullopt: not a file of that kind (TZif, version 2 or later).
std::optional<ZoneData> read_zone_data(std::string_view bytes);

class Zone {
 public:
  Zone(std::string name, ZoneData data) : name_(std::move(name)), data_(std::move(data)) {}

  static std::shared_ptr<const Zone> utc();
  /// By its name, such as Europe/Berlin. Throws ScheduleError. Kept, and read again when its file
  /// has changed.
  static std::shared_ptr<const Zone> find(std::string_view name);

  const std::string& name() const noexcept { return name_; }
  int offset_at(UnixSeconds time) const;
  Wall wall(UnixSeconds time) const { return time + offset_at(time); }
  /// When the clock shows that. Where it does so twice: the first time. Where it never does, since
  /// clocks are put forward over it: as if they had been so already, as dateutil has it.
  UnixSeconds when(Wall wall) const;

 private:
  std::string name_;
  ZoneData data_;
};

}  // namespace w8y::schedule
