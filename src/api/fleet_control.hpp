// The port from the API to the fleet. Implemented by app.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "http/http.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/host_details.hpp"

namespace w8y::api {

/// The hosts of the fleet as pages show them.
struct FleetGlance {
  struct Host {
    std::string id;
    std::uint64_t lists_version = 0;
    std::size_t slots_used = 0;
    bool silent = false;
    bool readable = true;  ///< its heartbeat
  };
  std::string error;        ///< why the fleet can't be read; empty: it can
  std::string text;         ///< JSON object, without the time
  std::vector<Host> hosts;  ///< those in `text`
};

/// Nothing here throws or blocks.
class FleetControl {
 public:
  using Seen = std::function<void(FleetGlance&&)>;

  virtual ~FleetControl() = default;
  /// `then` is called once, from the loop; it may be dropped with the port.
  virtual void read(Seen then) = 0;
  using Detailed = std::function<void(std::vector<view::HostDetails>&&)>;
  /// Replies for the first of these hosts, at least one; none if Redis can't be read. `then` as
  /// with look().
  virtual void details(std::vector<view::HostWish> wishes, Detailed then) = 0;
  using Sent = std::function<void(const FleetCommandResult&)>;
  /// Hosts carry it out and answer; its `id` and `until` are filled in. `then` as with look().
  virtual void send(FleetCommand order, Sent then) = 0;
  /// Server-sent events of what a run writes, wherever it is: its id, or a start of it.
  virtual void follow(const std::string& run, http::HttpReplyPtr reply) = 0;
  /// `then`, whenever an operator has changed a list in Redis: paused it, or ended that.
  virtual void when_changed(std::function<void()> then) = 0;
};

}  // namespace w8y::api
