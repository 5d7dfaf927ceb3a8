// What a list needs besides its runs, from every host that has it in its config, whether or not the
// host serves it: due jobs are entered in their queues, what a host that is gone has taken goes
// back.
#pragma once

#include <string>

#include "core/list_config.hpp"

namespace w8y {

class UpkeepHandler {
 public:
  virtual ~UpkeepHandler() = default;
  /// Why it can't be done, where that is about this list; empty: that is over. Told when it
  /// changes.
  virtual void on_upkeep_trouble(const std::string& why) = 0;
  /// A job that was due has been entered in its queue, so late.
  virtual void on_entered(Duration /*late*/) {}
};

/// Goes on by itself until it is destroyed. Never calls its handler from inside a call of its own.
class Upkeep {
 public:
  virtual ~Upkeep() = default;
  /// A changed rule of the same kind of work.
  virtual void use(RulePtr rule) = 0;
};

}  // namespace w8y
