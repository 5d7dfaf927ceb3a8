// Supervisor on a fake host.
#pragma once

#include <doctest/doctest.h>

#include "core/supervisor.hpp"
#include "fakes.hpp"

namespace w8y::test {

using namespace std::chrono_literals;

struct SupervisorBench : World {
  Supervisor supervisor{SupervisorHost{clock, timers, *this, *this, 7}};
  ReloadPlan plan;
  unsigned applied = 0;

  void apply(std::vector<ListConfig> rules, bool new_sources = false) {
    Config config;
    config.supervisor.host = "here";
    for (auto& rule : rules) {
      const std::string prefix = rule.prefix;
      config.lists[prefix] = share(std::move(rule));
    }
    config.supervisor.host_concurrency = host_concurrency;
    config.redis.idle_commands = idle_commands;
    supervisor.apply(std::make_shared<const Config>(std::move(config)), new_sources,
                     [this](const ReloadPlan& changes) {
                       plan = changes;
                       ++applied;
                     });
    settle_down();
  }
  const ServedList& list(const std::string& prefix) { return *supervisor.lists().at(prefix); }
  unsigned host_concurrency = 0;
  unsigned idle_commands = 100;
};

}  // namespace w8y::test
