// Marks of a fleet: events beside its statistics over time (w8y-keys(7)).
#pragma once

#include <memory>
#include <string>

#include "redis/client.hpp"
#include "store/fleet/keys.hpp"
#include "view/statistics.hpp"

namespace w8y::store {

/// Writes marks. All replies are ignored: a mark that Redis refuses or does not receive is lost.
class FleetMarks {
 public:
  FleetMarks(redis::Client& client, const std::string& fleet);

  /// Records a mark. Equal marks of several hosts become one.
  void record(const view::StatisticsMark& mark);
  /// Records that w8yd started on a host at `at`, if the start before it was of another version.
  void record_start(const std::string& host, const std::string& version, WallTime at);
  /// Keeps the version of a host that leaves the fleet.
  void keep_version(const std::string& host, const std::string& version);

 private:
  void remove_surplus();

  redis::Client& client_;
  const FleetKeys keys_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::store
