// The port from the API to the fleet. Implemented by app.
#pragma once

#include <functional>

#include <w8y/fleet.hpp>
#include <w8y/fleet_orders.hpp>

namespace w8y::ops {

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
};

}  // namespace w8y::ops
