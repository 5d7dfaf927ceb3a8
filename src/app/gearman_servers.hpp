// Gearman servers of the config, for all lists of this host.
#pragma once

#include "core/events.hpp"
#include "core/run_id.hpp"
#include "core/subsystem.hpp"
#include "gearman/server_pool.hpp"
#include "loop/loop.hpp"
#include "redis/random_number.hpp"

namespace w8y::app {

class GearmanConnections final : public Subsystem {
 public:
  GearmanConnections(loop::Loop& loop, EventHandler& events)
      : session_(loop, events, redis::random_number()), run_ids_(redis::random_number()) {}

  void start(const Config& config) override { use(config); }
  void commit(const Config& wanted) override { use(wanted); }

  [[nodiscard]] gearman::ServerPool& session() { return session_; }
  [[nodiscard]] const gearman::ServerPool& session() const { return session_; }
  [[nodiscard]] RunIds& run_ids() { return run_ids_; }

 private:
  void use(const Config& config) { session_.use(config.gearman, config.supervisor.host); }

  gearman::ServerPool session_;
  RunIds run_ids_;
};

}  // namespace w8y::app
