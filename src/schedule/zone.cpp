#include "schedule/zone.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "core/ascii.hpp"
#include "core/text.hpp"
#include "schedule/read_time.hpp"

namespace w8y::schedule {

namespace {

constexpr std::string_view directory = "/usr/share/zoneinfo/";

/// Whether the name stays within the directory of zones.
bool is_zone_name(std::string_view name) {
  const auto allowed = [](char c) {
    return core::is_alnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed) &&
         name.front() != '/' && name.back() != '/';
}

std::optional<ZoneData> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return read_zone_data(bytes);
}

struct Known {
  std::shared_ptr<const Zone> zone;
  timespec changed{};
};

}  // namespace

std::shared_ptr<const Zone> Zone::utc() {
  static const auto zone = std::make_shared<const Zone>("UTC", ZoneData());
  return zone;
}

std::shared_ptr<const Zone> Zone::find(std::string_view name) {
  // Schedules are also read on the query thread of the status API.
  static std::mutex mutex;
  static std::map<std::string, Known, std::less<>> known;
  if (name == "UTC") return utc();
  const ScheduleError none{"TZID=" + core::quote_start(name) + ": this host has no such zone in " +
                           std::string(directory) + "; use a name such as Europe/Berlin"};
  if (!is_zone_name(name)) throw none;
  const std::string path = std::string(directory) + std::string(name);
  struct stat status {};
  // A zone has a few KiB; a huge file is not a zone.
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > 1'000'000)
    throw none;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end() && found->second.changed.tv_sec == status.st_mtim.tv_sec &&
      found->second.changed.tv_nsec == status.st_mtim.tv_nsec)
    return found->second.zone;
  auto data = read_file(path);
  if (!data) throw none;
  auto zone = std::make_shared<const Zone>(std::string(name), std::move(*data));
  known.insert_or_assign(std::string(name), Known{zone, status.st_mtim});
  return zone;
}

int Zone::offset_at(UnixSeconds time) const {
  const auto& changes = data_.changes;
  const auto next = std::upper_bound(
      changes.begin(), changes.end(), time,
      [](UnixSeconds at, const ZoneData::Change& change) { return at < change.at; });
  if (next == changes.end() && data_.later) return data_.later->offset_at(time);
  return next == changes.begin() ? data_.first_offset : std::prev(next)->offset;
}

UnixSeconds Zone::when(Wall wall) const {
  // No zone changes twice in two days.
  const int before = offset_at(wall - day_length), after = offset_at(wall + day_length);
  if (before == after || offset_at(wall - before) == before) return wall - before;
  return wall - after;
}

}  // namespace w8y::schedule
