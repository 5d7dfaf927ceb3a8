// Maintenance of a list. Every host that has the list in its config does it, even if the host does
// not serve the list: it enqueues due jobs, and recovers the claims of unresponsive hosts.
#pragma once

#include <string>

#include "core/list_config.hpp"

namespace w8y {

class ListMaintenanceHandler {
 public:
  virtual ~ListMaintenanceHandler() = default;
  /// Called when the maintenance of this list starts to fail, with the error, and with an empty
  /// text when it succeeds again.
  virtual void on_maintenance_error(const std::string& why) = 0;
  /// Called when a due job was enqueued. `late` is the time since it was due.
  virtual void on_enqueued(Duration /*late*/) {}
};

/// Works until it is destroyed. Never calls its handler inside a call to this object.
class ListMaintenance {
 public:
  virtual ~ListMaintenance() = default;
  /// Sets a changed list config of the same kind of work.
  virtual void use(ListConfigPtr rule) = 0;
};

}  // namespace w8y
