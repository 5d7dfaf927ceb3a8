// A part of w8yd that depends on the config: one entry in Daemon's list.
#pragma once

#include <string>

#include "core/list_config.hpp"

namespace w8y {

/// Part of w8yd with its own resources. Subsystems start in the order of the list, and stop in
/// reverse order. A reload calls prepare() on each subsystem, then either commit() or abandon() on
/// each.
class Subsystem {
 public:
  virtual ~Subsystem() = default;
  /// Called with the first config, before the loop runs. Throws std::runtime_error if w8yd cannot
  /// start.
  virtual void start(const Config& /*config*/) {}
  /// Prepares the resources for `wanted`, beside those in use. Returns the error, or an empty text
  /// if commit() will not fail. Called in reverse order, because later subsystems depend on earlier
  /// ones.
  virtual std::string prepare(const Config& /*running*/, const Config& /*wanted*/) { return {}; }
  /// Releases prepared resources, if there are any.
  virtual void abandon() {}
  /// Puts the prepared resources into use, as far as lists depend on them.
  virtual void commit(const Config& /*wanted*/) {}
  /// Called when the lists are served by this config, after a start or a reload. Puts the remaining
  /// resources into use.
  virtual void applied(const Config& /*config*/) {}
  /// Called after the loop has ended.
  virtual void stop() {}
};

}  // namespace w8y
