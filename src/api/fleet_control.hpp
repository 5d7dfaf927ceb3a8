// Interface from the API to the fleet. Implemented by app.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "http/http.hpp"
#include "view/fleet.hpp"
#include "view/fleet_commands.hpp"
#include "view/fleet_lists.hpp"
#include "view/host_details.hpp"

namespace w8y::api {

/// The hosts of the fleet as pages show them.
struct FleetGlance {
  struct Host {
    std::string id;
    std::uint64_t lists_version = 0;
    std::size_t slots_used = 0;
    bool silent = false;
    bool readable = true;  ///< whether its heartbeat is valid
  };
  std::string error;        ///< why the fleet cannot be read; empty: it can
  std::string text;         ///< JSON object, without the time
  std::vector<Host> hosts;  ///< hosts in `text`
};

/// Interface to the fleet. No function throws or blocks.
class FleetControl {
 public:
  using Seen = std::function<void(FleetGlance&&)>;

  virtual ~FleetControl() = default;
  /// Reads the fleet. `then` is called once, from the loop. It may be dropped when the FleetControl
  /// is destroyed.
  virtual void read(Seen then) = 0;
  using Detailed = std::function<void(std::vector<view::HostDetails>&&)>;
  /// Reads the details of the first of these hosts, at least one; of none if Redis cannot be read.
  /// `then` as with read().
  virtual void details(std::vector<view::HostWish> wishes, Detailed then) = 0;
  using Listed = std::function<void(FleetLists&&)>;
  /// Reads the lists of all other hosts, or one list. `then` as with read(), after at most 3 s.
  virtual void lists(std::optional<std::string> list, Listed then) = 0;
  using Sent = std::function<void(const FleetCommandResult&)>;
  /// Sends a command. Hosts execute it and reply. Its `id` and `until` are filled in. `then` as
  /// with read().
  virtual void send(FleetCommand order, Sent then) = 0;
  /// Sends the output of a run on any host as server-sent events. `run`: ID, or start of an ID.
  virtual void follow(const std::string& run, http::HttpReplyPtr reply) = 0;
  /// Sets the function that is called each time an operator pauses or resumes a list in Redis.
  virtual void when_changed(std::function<void()> then) = 0;
};

}  // namespace w8y::api
