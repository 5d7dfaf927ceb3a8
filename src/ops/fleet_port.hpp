// The port from the API to the fleet. Implemented by app.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <w8y/fleet.hpp>
#include <w8y/fleet_orders.hpp>

#include "ops/http.hpp"

namespace w8y::ops {

/// What a host tells of its runs, by the minute.
struct HostMinutes {
  std::string id;
  std::vector<std::string> minutes;  ///< JSON, as others have written it: to be read without trust
};

/// Nothing here throws or blocks.
class FleetPort {
 public:
  using Seen = std::function<void(const FleetView&)>;

  virtual ~FleetPort() = default;
  /// `then` is called once, from the loop; it may be dropped with the port.
  virtual void look(bool lists, Seen then) = 0;
  using Given = std::function<void(const FleetOutcome&)>;
  /// Hosts carry it out and answer; its `id` and `until` are filled in. `then` as with look().
  virtual void give(FleetOrder order, Given then) = 0;
  using Counted = std::function<void(const std::vector<HostMinutes>&)>;
  /// The last so many minutes of these hosts, as far as they are known. `then` as with look().
  virtual void minutes(std::vector<std::string> ids, std::int64_t last, Counted then) = 0;
  /// Server-sent events of what a run writes, wherever it is: its id, or a start of it.
  virtual void follow(const std::string& run, HttpReplyPtr reply) = 0;
  /// `then`, whenever an operator has changed a list in Redis: paused it, or ended that.
  virtual void when_changed(std::function<void()> then) = 0;
};

}  // namespace w8y::ops
