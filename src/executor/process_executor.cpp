#include "executor/process_executor.hpp"

#include <utility>

#include "loop/loop.hpp"

namespace w8y::executor {

ProcessExecutor::ProcessExecutor(loop::Loop& loop, RunHandler& handler, ExecutorOptions options)
    : loop_(loop), handler_(handler), options_(std::move(options)) {}

ProcessExecutor::~ProcessExecutor() = default;

void ProcessExecutor::start(const Claim& claim, ListConfigPtr rule) {
  if (!working_) working_ = std::make_unique<Working>(loop_.timers());
  const RunSetting setting{std::move(rule), working_->accounts, options_};
  RunOwner& self = *this;
  working_->runs[claim.run] = std::make_unique<Run>(loop_, self, handler_, claim, setting);
}

Run* ProcessExecutor::find(const RunId& run) const {
  if (!working_) return nullptr;
  const auto found = working_->runs.find(run);
  return found == working_->runs.end() ? nullptr : found->second.get();
}

void ProcessExecutor::stop(const RunId& run) {
  if (Run* found = find(run)) found->stop();
}

void ProcessExecutor::kill(const RunId& run) {
  if (Run* found = find(run)) found->kill();
}

std::string ProcessExecutor::tail(const RunId& run) const {
  const Run* found = find(run);
  return found == nullptr ? std::string() : found->tail();
}

void ProcessExecutor::on_run_ended(Run& run) {
  auto& [runs, dead, accounts, sweep] = *working_;
  auto entry = runs.extract(run.id());
  dead.push_back(std::move(entry.mapped()));
  if (!sweep.pending()) sweep.set(loop_.now(), [this] { working_->dead.clear(); });
}

}  // namespace w8y::executor
