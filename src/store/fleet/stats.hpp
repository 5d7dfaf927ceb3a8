// Statistics of lists that all hosts of a fleet share (w8y-keys(7)).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "redis/client.hpp"
#include "redis/subscriber.hpp"
#include "store/fleet/keys.hpp"

namespace w8y::store {

/// Callbacks come from the loop and are dropped with this object.
class FleetStats {
 public:
  /// Pairs of name and text. Names are "list:" with the key prefix of a list, and "fleet".
  using Fields = std::vector<std::pair<std::string, std::string>>;
  static constexpr const char* list_field = "list:";
  static constexpr const char* fleet_field = "fleet";
  /// Life of the collector's lock, which the collector renews.
  static constexpr Duration right_life = std::chrono::seconds(15);

  using Heard = std::function<void(const std::string& name, const std::string& text)>;

  /// `heard`: called with each field that another host has written.
  FleetStats(redis::Client& client, redis::Subscriber& subscriber, const std::string& fleet,
             std::string id, Heard heard);

  /// Subscribes to changes. Must not be called without permission, because Redis would refuse it on
  /// each connection.
  void listen();
  /// Reads all fields. `ok`: false if they could not be read; `commands`: number of Redis commands
  /// used.
  using Read = std::function<void(bool ok, Fields&& fields, std::size_t commands)>;
  void read(Read then);
  /// Acquires the collector's lock, which one host of the fleet holds at a time.
  void acquire_lock(std::function<void(bool taken)> then);
  /// Renews the lock, which this host still holds.
  void renew_lock();
  void release_lock();
  /// Writes fields and publishes them.
  void write(const Fields& fields);
  void remove(const std::vector<std::string>& names);

 private:
  struct Reading;
  void subscribe(std::string_view message) const;
  void scan(const std::shared_ptr<Reading>& reading, const std::string& cursor);

  redis::Client& client_;
  redis::Subscriber& subscriber_;
  const FleetKeys keys_;
  const std::string id_;
  const Heard heard_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool listens_ = false;
  redis::Subscription news_;
};

}  // namespace w8y::store
