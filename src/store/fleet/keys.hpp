// Keys and channels of a fleet (w8y-keys(7)).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace w8y::store {

/// Each Redis command uses only one of them: in a cluster they may be on different nodes.
struct FleetKeys {
  static constexpr std::int64_t minutes_kept = 60;
  /// Maximum bytes that a host writes for one minute.
  static constexpr std::size_t max_minute = std::size_t{64} << 10;

  explicit FleetKeys(const std::string& fleet)
      : hosts(fleet + ":hosts"),
        host_prefix(fleet + ":host:"),
        lists_prefix(fleet + ":lists:"),
        minute_prefix(fleet + ":minute:"),
        series_of_all(fleet + ":series"),
        marks(fleet + ":marks"),
        version_prefix(fleet + ":version:"),
        stats(fleet + ":stats"),
        collector(fleet + ":collector"),
        control(fleet + ":control"),
        changes(fleet + ":changes"),
        reply_prefix(fleet + ":reply:"),
        logs_prefix(fleet + ":logs:") {}

  [[nodiscard]] std::string host(std::string_view id) const {
    return host_prefix + std::string(id);
  }
  [[nodiscard]] std::string lists(std::string_view id) const {
    return lists_prefix + std::string(id);
  }
  /// Returns one of 60 keys, which are reused every hour.
  [[nodiscard]] std::string minute(std::string_view id, std::int64_t minute) const {
    return minute_prefix + std::string(id) + ":" + std::to_string(minute % minutes_kept);
  }
  /// Returns the key of the statistics over time of a list; nullopt: of all lists.
  [[nodiscard]] std::string series(const std::optional<std::string>& list) const {
    return list ? series_of_all + ":" + *list : series_of_all;
  }
  [[nodiscard]] std::string version(std::string_view host) const {
    return version_prefix + std::string(host);
  }
  [[nodiscard]] std::string reply(std::string_view command) const {
    return reply_prefix + std::string(command);
  }

  [[nodiscard]] std::string logs(std::string_view listener) const {
    return logs_prefix + std::string(listener);
  }

  std::string hosts;  ///< sorted set: host ID, scored with the time of its last heartbeat in ms
  std::string host_prefix;
  std::string lists_prefix;
  std::string minute_prefix;
  std::string series_of_all;  ///< hash: statistics over time of all lists
  std::string marks;  ///< sorted set: events beside these statistics, scored with their time
  std::string version_prefix;
  std::string stats;      ///< hash and channel: statistics of each list and of the fleet
  std::string collector;  ///< ID of the host that collects the statistics
  std::string control;
  std::string changes;  ///< channel: lists that an operator has changed
  std::string reply_prefix;
  std::string logs_prefix;
};

/// Returns a duration as an argument of PX and PEXPIRE.
inline std::string ms_of(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace w8y::store
