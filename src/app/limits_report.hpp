// Says when the limits of this host don't suffice for what its lists may run at once.
#pragma once

#include <string>
#include <vector>

#include "core/subsystem.hpp"
#include "core/supervisor.hpp"
#include "ops/log.hpp"

namespace w8y::app {

class LimitsReport final : public Subsystem {
 public:
  LimitsReport(ops::LineLog& log, const Supervisor& supervisor)
      : log_(log), supervisor_(supervisor) {}

  /// Counts the lists that this host serves. Says what is not as it was.
  void applied(const Config& config) override;

 private:
  ops::LineLog& log_;
  const Supervisor& supervisor_;
  std::vector<std::string> shortfalls_;  ///< said already
};

}  // namespace w8y::app
