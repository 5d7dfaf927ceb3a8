// What a list needs besides its runs, from every host that has it in its config, whether or not the
// host serves it: due jobs are entered in their queues, what a host that is gone has taken goes
// back.
#pragma once

#include <string>

#include "core/list_config.hpp"

namespace w8y {

class ListMaintenanceHandler {
 public:
  virtual ~ListMaintenanceHandler() = default;
  /// Why it can't be done, where that is about this list; empty: that is over. Told when it
  /// changes.
  virtual void on_maintenance_error(const std::string& why) = 0;
  /// A job that was due has been entered in its queue, so late.
  virtual void on_enqueued(Duration /*late*/) {}
};

/// Goes on by itself until it is destroyed. Never calls its handler from inside a call of its own.
class ListMaintenance {
 public:
  virtual ~ListMaintenance() = default;
  /// A changed rule of the same kind of work.
  virtual void use(ListConfigPtr rule) = 0;
};

}  // namespace w8y
