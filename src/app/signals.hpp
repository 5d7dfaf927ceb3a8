// Commands by signal.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/control.hpp"
#include "app/drain.hpp"
#include "core/subsystem.hpp"
#include "loop/loop.hpp"
#include "ops/log.hpp"

namespace w8y::app {

class Signals final : public Subsystem {
 public:
  Signals(loop::Loop& loop, api::Control& control, Drain& drain, ops::Log& log)
      : loop_(loop), control_(control), drain_(drain), log_(log) {}

  void start(const Config& config) override;

 private:
  void on(int signal, std::function<void()> act);

  loop::Loop& loop_;
  api::Control& control_;
  Drain& drain_;
  ops::Log& log_;
  std::vector<std::unique_ptr<loop::SignalWatch>> watches_;
};

}  // namespace w8y::app
