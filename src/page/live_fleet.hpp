// What the page shows of other hosts: asked for all clients at once, and only while there is one.
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

class LiveFleet {
 public:
  /// `changed`: there is something to tell. `fleet` and `changed` outlive this.
  LiveFleet(loop::Loop& loop, api::FleetControl& fleet, std::function<void()> changed);

  /// `own`: the id of the host that asks, whose lists are known better here.
  void start(std::string own);
  void stop();

  /// `"fleet":{…}` or `"remote":[…]` or nothing.
  std::string take_changes(std::size_t most);
  [[nodiscard]] bool changed() const;

  /// All that is known: where a client has got to in it.
  struct Cursor {
    std::string host;
    std::size_t row = 0;
    std::int64_t minute = 0;  ///< told up to this one
    bool started = false;
  };
  /// The hosts themselves: `"fleet":{…}`.
  [[nodiscard]] std::string hosts() const;
  /// `"remote":[…]` of one host; empty: that was all.
  [[nodiscard]] std::string part(Cursor& at, std::size_t most) const;

 private:
  struct Remote {
    std::uint64_t version = 0;
    bool known = false;
    LiveRows rows;
    std::size_t rows_bytes = 0;
    std::string runs = "[]";  ///< what it runs
    bool runs_changed = false;
    std::map<std::int64_t, std::string> minutes;  ///< how many runs it had in each
    std::size_t minutes_bytes = 0;
    std::deque<std::int64_t> minutes_changed;
  };
  using Remotes = std::map<std::string, Remote>;  ///< by host id
  /// What may still be kept.
  struct Room {
    std::size_t rows = 0;
    std::size_t bytes = 0;
  };

  void poll();
  void poll_again();
  void seen(api::FleetGlance&& glance);
  void ask_runs(const api::FleetGlance& glance);
  void ask_details();
  void take_details(std::vector<view::HostDetails>&& hosts);
  void take_rows(Remote& remote, const view::HostDetails& host);
  void take_minutes(Remote& remote, view::HostDetails& host);
  void take_runs(const FleetCommandResult& outcome);
  [[nodiscard]] Room room() const;

  loop::Loop& loop_;
  api::FleetControl& fleet_;
  std::function<void()> tell_;
  std::string own_;
  std::string hosts_;
  bool hosts_changed_ = false;
  Remotes remotes_;
  std::deque<view::HostWish> wishes_;              ///< what this poll has still to read
  std::map<std::string, std::uint64_t> versions_;  ///< of the lists, at this poll
  std::size_t polls_ = 0;
  Timer poll_;
  std::shared_ptr<bool> alive_;  ///< null: nobody looks
};

/// The fleet for pages: as many hosts as fit into 128 KiB of text. All open pages get the text
/// again when one heartbeat changes, and a stream holds 256 KiB.
api::FleetGlance glance_of(const FleetView& fleet);

}  // namespace w8y::page
