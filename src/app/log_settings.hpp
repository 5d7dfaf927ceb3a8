// Applies the config of the log, and logs the warnings of the config.
#pragma once

#include "core/subsystem.hpp"
#include "ops/log.hpp"

namespace w8y::app {

class LogSettings final : public Subsystem {
 public:
  explicit LogSettings(ops::Log& log) : log_(log) {}

  void start(const Config& config) override;
  std::string prepare(const Config& running, const Config& wanted) override;
  void commit(const Config& wanted) override;
  void applied(const Config& config) override;

 private:
  ops::Log& log_;
};

}  // namespace w8y::app
