// What was asked of lists, where all hosts of a fleet find it (w8y-keys(7)).
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

/// Answers come from the loop; they are dropped with this.
class FleetStats {
 public:
  /// A name and a text: of a list, "list:" and its prefix; "fleet".
  using Fields = std::vector<std::pair<std::string, std::string>>;
  static constexpr const char* list_field = "list:";
  static constexpr const char* fleet_field = "fleet";
  /// Who asks has that right for so long, and prolongs it.
  static constexpr Duration right_life = std::chrono::seconds(15);

  using Heard = std::function<void(const std::string& name, const std::string& text)>;

  /// `on_published`: what another host has just written.
  FleetStats(redis::Client& client, redis::Subscriber& subscriber, const std::string& fleet,
             std::string id, Heard heard);

  /// From now on. Not for who may not: it would be refused on each connection.
  void listen();
  /// All of them. False: they could not be read. `commands`: that it took.
  using Read = std::function<void(bool ok, Fields&& fields, std::size_t commands)>;
  void read(Read then);
  /// The right to ask: one host of the fleet has it at a time.
  void acquire_lock(std::function<void(bool taken)> then);
  /// It is still ours: prolonged.
  void renew_lock();
  void release_lock();
  /// And tells all who listen.
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
