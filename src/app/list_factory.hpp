// What the lists of this host are made of: sources on the connection in use, and processes.
#pragma once

#include <w8y/served_list.hpp>

#include "app/child_processes.hpp"
#include "app/redis_connection.hpp"
#include "app/timefiles.hpp"

namespace w8y::app {

class ListFactory final : public PollerFactory {
 public:
  ListFactory(RedisConnection& redis, ChildProcesses& processes, Timefiles& timefiles)
      : redis_(redis), processes_(processes), timefiles_(timefiles) {}

  std::unique_ptr<Source> make_source(const RulePtr& rule, IdlePolls& idle,
                                      SourceHandler& handler) override;
  std::shared_ptr<Executor> make_executor(const RulePtr& rule, const Caps& caps,
                                          RunHandler& handler) override;
  std::unique_ptr<Upkeep> make_upkeep(const RulePtr& rule, IdlePolls& idle,
                                      UpkeepHandler& handler) override;
  std::string why_not(const Rule& rule, const Caps& caps) override;
  Prober& prober() override { return processes_.prober(); }

 private:
  RedisConnection& redis_;
  ChildProcesses& processes_;
  Timefiles& timefiles_;
};

}  // namespace w8y::app
