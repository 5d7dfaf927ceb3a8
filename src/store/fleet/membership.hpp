// Membership of this host in its fleet: sends its heartbeats.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runs_per_minute.hpp"
#include "core/timers.hpp"
#include "redis/client.hpp"
#include "store/fleet/keys.hpp"
#include "view/fleet.hpp"

namespace w8y::store {

namespace detail {
/// Base class that makes the client before the listener on it and destroys it after the listener.
struct FleetClientOwner {
  std::unique_ptr<redis::Client> owned_client;
};
}  // namespace detail

/// Uses its own connection, so that the fleet never delays renewals: other clients may have made
/// its keys large, and in a cluster they may be on another node than all lists.
/// A heartbeat that Redis refuses is not kept: the next one has the complete state.
class FleetMembership final : private detail::FleetClientOwner, private redis::Client::Listener {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Returns the current heartbeat, without `lists_version`.
    virtual HostHeartbeat heartbeat(const RedisClock& time) = 0;
    /// Returns changes of the list reports, at most `most` of them. `lively`: also those that runs
    /// have made.
    virtual std::vector<ListReportTracker::Change> changes(std::size_t most, bool lively) = 0;
    struct Minute {
      std::int64_t minute = 0;  ///< since 1970, by the Redis clock
      std::string text;         ///< at most max_minute bytes
    };
    /// Returns the run counts of recent minutes that have changed.
    virtual std::vector<Minute> minutes(const RedisClock& time) = 0;
    /// Returns the statistics of minutes that were not returned before.
    virtual std::vector<MinuteStats> stats() = 0;
    /// Returns the time by the clock of this host, for the age of these minutes.
    [[nodiscard]] virtual WallTime wall() const = 0;
    /// Called when the published reports may be lost, so that all must be published again.
    virtual void republish() = 0;
    /// Called with the number of hosts in the fleet, without hosts that have stopped their
    /// heartbeats. 0 = this host is the first and has not sent a heartbeat yet.
    virtual void on_counted(std::size_t hosts) = 0;
    /// Called when Redis has replied to a heartbeat. `refused`: the error; empty if it was
    /// accepted.
    virtual void on_heartbeat_sent(const std::string& refused) = 0;
    /// Called when Redis has replied to the statistics of a heartbeat. `refused`: the error; empty
    /// if they were accepted. The heartbeat does not depend on it.
    virtual void on_stats_sent(const std::string& refused) = 0;
  };

  FleetMembership(loop::Loop& loop, const redis::ClientOptions& options, const std::string& fleet,
                  std::string id, Handler& handler);
  ~FleetMembership() override;

  /// Sends the next heartbeat soon, because the state has changed.
  void heartbeat_soon();
  /// Removes this host from the fleet and stops its heartbeats. `then` is called once, soon, from
  /// the loop, even if Redis does not reply.
  void leave(std::function<void()> then);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] redis::Client& client() { return *owned_client; }
  [[nodiscard]] const RedisClock& time() const { return time_; }

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void arm();
  void begin();
  void tidy();
  void on_dead_hosts(const redis::Answer& answer);
  void note_time(const redis::Answer& answer, Instant asked);
  void send();
  void send_lists();
  void send_stats();
  /// Returns a callback that counts the reply to a part of a heartbeat, then calls `look`.
  redis::Client::Callback counted(std::function<void(const redis::Answer&)> look);
  void add_stats(const std::string& key, const redis::Command& args);
  void call(const redis::Command& command, std::function<void(const redis::Answer&)> look = {});
  void answered();

  loop::Loop& loop_;
  const FleetKeys keys_;
  const std::string id_;
  Handler& handler_;
  HeartbeatTimer times_;
  RedisClock time_;
  std::size_t all_ = 0;         ///< hosts in the fleet, including hosts that have died
  std::size_t heartbeats_ = 0;  ///< sent on this connection
  std::size_t missing_ = 0;     ///< replies in flight
  bool told_lists_ = false;     ///< the hash of list reports exists
  std::uint64_t version_ = 0;   ///< of the list reports
  std::string refused_;         ///< error of this heartbeat; empty = none so far
  /// Error of the statistics in this heartbeat; empty = none so far; nullopt = no statistics.
  std::optional<std::string> stats_refused_;
  bool leaving_ = false;
  std::function<void()> left_;
  Timer next_;
  Timer leave_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::store
