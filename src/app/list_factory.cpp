#include "app/list_factory.hpp"

#include "executor/executor_factory.hpp"
#include "source/source_factory.hpp"

namespace w8y::app {

std::unique_ptr<Source> ListFactory::make_source(const ListConfigPtr& rule, IdlePolls& idle,
                                                 SourceHandler& handler) {
  if (!rule->traits().in_redis)
    return source::make_gearman(
        redis_.exists() ? redis_.session() : nullptr,
        {loop_.clock(), loop_.timers(), gearman_.run_ids(), gearman_.session()}, handler);
  return source::make_source(redis_.session(), *rule, idle, handler);
}

std::unique_ptr<ListMaintenance> ListFactory::make_maintenance(const ListConfigPtr& rule,
                                                               IdlePolls& idle,
                                                               ListMaintenanceHandler& handler) {
  return source::make_upkeep(
      redis_.session(), rule, idle, handler,
      [this](const std::string& file, std::int64_t time) { timefiles_.record(file, time); });
}

std::shared_ptr<Executor> ListFactory::make_executor(const ListConfigPtr& rule, const Caps& caps,
                                                     RunHandler& handler) {
  return processes_.make_executor(redis_.host(), *rule, caps, handler);
}

std::string ListFactory::why_not(const ListConfig& rule, const Caps& caps) {
  std::string why = executor::why_not(rule, caps);
  return why.empty() ? source::why_not(rule) : why;
}

}  // namespace w8y::app
