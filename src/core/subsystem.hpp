// A part of w8yd that the config decides about: a row in Daemon's list.
#pragma once

#include <string>

#include "core/list_config.hpp"

namespace w8y {

/// Started in the order of the list, and stopped in the opposite one. A reload asks all of them to
/// prepare; then all commit, or all abandon what they have prepared.
class Subsystem {
 public:
  virtual ~Subsystem() = default;
  /// With the first config, before the loop runs. Throws std::runtime_error if w8yd can't go on.
  virtual void start(const Config& /*config*/) {}
  /// Makes ready what `wanted` asks for, beside what is in use. Returns why that can't be; empty:
  /// it can, and commit() won't fail. Asked in the opposite order: what others stand on comes last.
  virtual std::string prepare(const Config& /*running*/, const Config& /*wanted*/) { return {}; }
  /// Drops what was made ready, if anything was.
  virtual void abandon() {}
  /// Takes what was made ready, as far as lists are made with it.
  virtual void commit(const Config& /*wanted*/) {}
  /// Lists are served by this config now, at a start or by a reload: takes the rest.
  virtual void applied(const Config& /*config*/) {}
  /// The loop has ended.
  virtual void stop() {}
};

}  // namespace w8y
