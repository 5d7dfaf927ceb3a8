#include "executor/process_executor.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::executor {

ProcessExecutor::ProcessExecutor(loop::Loop& loop, RunHandler& handler, ExecutorOptions options)
    : loop_(loop), handler_(handler), options_(std::move(options)), sweep_(loop.timers()) {}

void ProcessExecutor::start(const Claim& claim, RulePtr rule) {
  if (!accounts_) accounts_ = std::make_unique<Accounts>();
  const RunSetting setting{std::move(rule), *accounts_, options_};
  RunOwner& self = *this;
  runs_[claim.run] = std::make_unique<Run>(loop_, self, handler_, claim, setting);
}

void ProcessExecutor::stop(const RunId& run) {
  if (const auto found = runs_.find(run); found != runs_.end()) found->second->stop();
}

void ProcessExecutor::kill(const RunId& run) {
  if (const auto found = runs_.find(run); found != runs_.end()) found->second->kill();
}

void ProcessExecutor::on_run_ended(Run& run, RunEnd&& end) {
  auto entry = runs_.extract(run.id());
  dead_.push_back(std::move(entry.mapped()));
  if (!sweep_.pending()) sweep_.set(loop_.now(), [this] { dead_.clear(); });
  handler_.on_ended(run.id(), std::move(end));
}

}  // namespace w8y::executor
