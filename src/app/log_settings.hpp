// The log as the config wants it, and what the config itself has to say there.
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
