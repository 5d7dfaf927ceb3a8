#include "app/list_factory.hpp"

#include "executor/executor_factory.hpp"
#include "source/circular/circular_factory.hpp"

namespace w8y::app {

std::unique_ptr<Source> ListFactory::make_source(const RulePtr&, IdlePolls& idle,
                                                 SourceHandler& handler) {
  return source::make_circular(redis_.session(), idle, handler);
}

std::shared_ptr<Executor> ListFactory::make_executor(const RulePtr& rule, const Caps& caps,
                                                     RunHandler& handler) {
  return processes_.make_executor(redis_.host(), *rule, caps, handler);
}

std::string ListFactory::why_not(const Rule& rule, const Caps& caps) {
  return executor::why_not(rule, caps);
}

}  // namespace w8y::app
