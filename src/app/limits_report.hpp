// Reports limits of this host that are too low for the maximum number of processes of its lists.
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

  /// Computes the need of the lists that this host serves. Logs what has changed.
  void applied(const Config& config) override;

 private:
  ops::LineLog& log_;
  const Supervisor& supervisor_;
  std::vector<std::string> shortfalls_;  ///< already logged
};

}  // namespace w8y::app
