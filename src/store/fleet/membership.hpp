// This host in its fleet: its beats, which say that it is there and how it is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/timers.hpp"
#include "redis/client.hpp"
#include "store/fleet/keys.hpp"
#include "view/fleet.hpp"

namespace w8y::store {

namespace detail {
/// A base class, so that the client is there before the listener on it, and goes after it.
struct FleetClientOwner {
  redis::Client owned_client;
};
}  // namespace detail

/// On a connection of its own, so that nothing of the fleet is in the way of renewals: what others
/// have put into its keys may be large, and in a cluster its keys may be where no list is.
/// A beat that Redis does not take is not kept: the next one says it all.
class FleetMembership final : private detail::FleetClientOwner, private redis::Client::Listener {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Of now. `lists_version` is filled in here.
    virtual HostHeartbeat heartbeat(const RedisClock& time) = 0;
    /// What is to be told of lists: `most` at a time, if there are so many. `lively`: also what
    /// runs have changed.
    virtual std::vector<ListReportTracker::Change> changes(std::size_t most, bool lively) = 0;
    struct Minute {
      std::int64_t minute = 0;  ///< since 1970, by Redis's clock
      std::string text;         ///< at most max_minute bytes
    };
    /// What has changed of the last minutes' figures.
    virtual std::vector<Minute> minutes(const RedisClock& time) = 0;
    /// What was told may be lost: all is to be told again.
    virtual void republish() = 0;
    /// How many hosts the fleet's keys name, without those that have stopped to beat. 0: this host
    /// is the first, and has not beaten yet.
    virtual void on_counted(std::size_t hosts) = 0;
    /// A beat was answered. `ineligible`: why Redis does not take it; empty: it does.
    virtual void on_heartbeat_sent(const std::string& refused) = 0;
  };

  FleetMembership(loop::Loop& loop, const redis::ClientOptions& options, const std::string& fleet,
                  std::string id, Handler& handler);
  ~FleetMembership() override;

  /// Something is new.
  void heartbeat_soon();
  /// Takes this host out of the fleet; `then`, once and from the loop, soon, whatever came of it.
  /// There are no more beats.
  void leave(std::function<void()> then);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] redis::Client& client() { return owned_client; }
  [[nodiscard]] const RedisClock& time() const { return time_; }

 private:
  void on_up() override;
  void on_down(const std::string& why) override;
  void arm();
  void begin();
  void tidy();
  void look_at_oldest(const redis::Answer& answer);
  void count_hosts(std::size_t gone);
  void note_time(const redis::Answer& answer, Instant asked);
  void send();
  void send_lists();
  void call(const redis::Command& command, std::function<void(const redis::Answer&)> look = {});
  void answered();

  loop::Loop& loop_;
  const FleetKeys keys_;
  const std::string id_;
  Handler& handler_;
  HeartbeatTimer times_;
  RedisClock time_;
  std::vector<std::pair<std::string, double>> oldest_;  ///< with their scores
  std::size_t heartbeats_ = 0;                          ///< on this connection
  std::size_t missing_ = 0;                             ///< answers
  bool told_lists_ = false;                             ///< there is a hash of them
  std::uint64_t version_ = 0;                           ///< of what is told of lists
  std::string refused_;                                 ///< of this beat; empty: nothing yet
  bool leaving_ = false;
  std::function<void()> left_;
  Timer next_;
  Timer leave_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace w8y::store
