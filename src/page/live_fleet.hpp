// State of other hosts for the page. It is queried once for all clients, and only while there are
// clients.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/fleet_control.hpp"
#include "core/timers.hpp"
#include "page/live_rows.hpp"
#include "view/fleet.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::page {

/// Cache of the state of other hosts, with the changes that clients have not received yet.
class LiveFleet {
 public:
  /// `changed` is called when there are changes to send. `fleet` and `changed` must outlive this
  /// object.
  LiveFleet(loop::Loop& loop, api::FleetControl& fleet, std::function<void()> changed);

  /// `own`: ID of this host. Its lists are omitted, because LiveHub has newer data.
  void start(std::string own);
  void stop();

  /// Returns the next changes: `"fleet":{…}`, `"remote":[…]` or nothing.
  std::string drain_changes(std::size_t most);
  [[nodiscard]] bool changed() const;

  /// Position of a client that receives the complete state.
  struct Cursor {
    std::string host;
    std::size_t row = 0;
    std::int64_t minute = 0;  ///< minutes up to this one were sent
    bool started = false;
  };
  /// Returns the hosts themselves: `"fleet":{…}`.
  [[nodiscard]] std::string hosts() const;
  /// Returns `"remote":[…]` of one host, about `most` bytes, and advances `at`. Empty: no more
  /// data.
  [[nodiscard]] std::string part(Cursor& at, std::size_t most) const;

 private:
  struct Remote {
    std::uint64_t version = 0;
    bool known = false;
    LiveRows rows;
    std::size_t rows_bytes = 0;
    std::string runs = "[]";  ///< active runs of the host
    bool runs_changed = false;
    std::map<std::int64_t, std::string> minutes;  ///< number of runs in each minute
    std::size_t minutes_bytes = 0;
    std::deque<std::int64_t> minutes_changed;
  };
  using Remotes = std::map<std::string, Remote>;  ///< by host ID
  /// Number of rows and bytes that still fit into the limits.
  struct Room {
    std::size_t rows = 0;
    std::size_t bytes = 0;
  };

  void poll();
  void poll_again();
  void seen(api::FleetGlance&& glance);
  void query_runs(const api::FleetGlance& glance);
  void query_details();
  void handle_details(std::vector<view::HostDetails>&& hosts);
  void handle_rows(Remote& remote, const view::HostDetails& host);
  void handle_minutes(Remote& remote, view::HostDetails& host);
  void handle_runs(const FleetCommandResult& outcome);
  [[nodiscard]] Room room() const;

  loop::Loop& loop_;
  api::FleetControl& fleet_;
  std::function<void()> notify_;
  std::string own_;
  std::string hosts_;
  bool hosts_changed_ = false;
  Remotes remotes_;
  std::deque<view::HostWish> wishes_;  ///< details that this poll has not read yet
  /// Versions of the lists of each host, at this poll.
  std::map<std::string, std::uint64_t> versions_;
  std::size_t polls_ = 0;
  Timer poll_;
  std::shared_ptr<bool> alive_;  ///< nullptr: there are no clients
};

/// Returns the fleet as pages show it, with as many hosts as fit into 128 KiB of text. All open
/// pages receive the text again when one heartbeat changes, and a stream queues at most 256 KiB.
api::FleetGlance glance_of(const FleetView& fleet);

}  // namespace w8y::page
