// Parts of the lists of this host: sources on the connection in use, and executors.
#pragma once

#include <utility>

#include "app/child_processes.hpp"
#include "app/gearman_servers.hpp"
#include "app/redis_connection.hpp"
#include "app/timefiles.hpp"
#include "core/histogram.hpp"
#include "core/served_list.hpp"

namespace w8y::app {

class ListFactory final : public PollerFactory {
 public:
  ListFactory(loop::Loop& loop, RedisConnection& redis, GearmanConnections& gearman,
              ChildProcesses& processes, Timefiles& timefiles)
      : loop_(loop),
        redis_(redis),
        gearman_(gearman),
        processes_(processes),
        timefiles_(timefiles),
        prober_(loop.clock(), processes) {}

  std::unique_ptr<Source> make_source(const ListConfigPtr& rule, IdlePolls& idle,
                                      SourceHandler& handler) override;
  std::shared_ptr<Executor> make_executor(const ListConfigPtr& rule, const Caps& caps,
                                          RunHandler& handler) override;
  std::unique_ptr<ListMaintenance> make_maintenance(const ListConfigPtr& rule, IdlePolls& idle,
                                                    ListMaintenanceHandler& handler) override;
  std::string why_not(const ListConfig& rule, const Caps& caps) override;
  Prober& prober() override { return prober_; }
  /// Returns the durations of probes of lists.
  [[nodiscard]] const CallTimes& probes() const { return prober_.times; }

 private:
  class TimedProber final : public Prober {
   public:
    TimedProber(const Clock& clock, ChildProcesses& processes)
        : clock_(clock), processes_(processes) {}
    void look_for(const ListConfig& rule, Duration timeout, Answer answer) override {
      processes_.prober().look_for(
          rule, timeout,
          [this, begun = clock_.now(), answer = std::move(answer)](ProbeResult&& result) {
            times.add(clock_.now() - begun);
            answer(std::move(result));
          });
    }
    CallTimes times;

   private:
    const Clock& clock_;
    ChildProcesses& processes_;
  };

  loop::Loop& loop_;
  RedisConnection& redis_;
  GearmanConnections& gearman_;
  ChildProcesses& processes_;
  Timefiles& timefiles_;
  TimedProber prober_;
};

}  // namespace w8y::app
