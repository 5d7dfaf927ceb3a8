#include "executor/attached.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "executor/environment.hpp"
#include "executor/placeholders.hpp"
#include "loop/loop.hpp"
#include "process/find_program.hpp"

namespace w8y::executor {

namespace {

/// Adds the variable with the item.
void add_item(std::vector<std::string>& environment, const std::string& name, const Item& item) {
  if (name.empty()) return;
  const std::string start = name + '=';
  std::erase_if(environment,
                [&](const std::string& variable) { return variable.starts_with(start); });
  if (fits_variable(name, item)) environment.push_back(start + item);
}

std::optional<NotStarted> fill(const Claim& claim, const ListConfig& rule,
                               process::ChildOptions& options) {
  process::SpawnRequest& request = options.spawn;
  const std::string& program = rule.command->front();
  auto found = process::find_program(program);
  if (found.path.empty()) return NotStarted{"cannot run " + program + ": " + found.problem};
  request.program = std::move(found.path);
  if (auto problem = fill_in(rule.command, claim.item, request.argv)) return problem;
  add_item(request.env, rule.child->env_var, claim.item);
  request.own_session = false;
  request.close_others = false;  // own descriptors are close-on-exec; inherited ones are passed on
  request.keep_ignored = true;
  options.capture = false;
  options.kill_grace = rule.kill_grace;
  return std::nullopt;
}

}  // namespace

AttachedExecutor::AttachedExecutor(loop::Loop& loop, RunHandler& handler)
    : loop_(loop), handler_(handler), soon_(loop.timers()), sweep_(loop.timers()) {}

void AttachedExecutor::prepare() {
  if (!environment_.empty()) return;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    environment_.emplace_back(*variable);
}

void AttachedExecutor::start(const Claim& claim, ListConfigPtr rule) {
  run_ = claim.run;
  reported_started_ = false;
  process::ChildOptions options;
  prepare();
  options.spawn.env = std::exchange(environment_, {});
  if (auto problem = fill(claim, *rule, options)) {
    soon_.set(loop_.now(), [this, problem = std::move(*problem)] { on_ended(problem); });
    return;
  }
  process::ChildHandler& self = *this;
  child_ = std::make_unique<process::Child>(loop_, std::move(options), self);
  if (child_->pid() == 0) return;
  soon_.set(loop_.now(), [this] { report_started(); });
}

void AttachedExecutor::stop(const RunId& run) {
  if (runs(run)) child_->stop();
}

void AttachedExecutor::kill(const RunId& run) {
  if (runs(run)) child_->kill();
}

void AttachedExecutor::signal(int number) {
  if (child_) child_->signal(number);
}

void AttachedExecutor::report_started() {
  if (std::exchange(reported_started_, true)) return;
  soon_.cancel();
  handler_.on_started(run_, child_->pid());
}

void AttachedExecutor::on_ended(ProcessEnd process) {
  if (!std::holds_alternative<NotStarted>(process)) report_started();
  if (child_) dead_.push_back(std::move(child_));
  sweep_.set(loop_.now(), [this] { dead_.clear(); });
  RunEnd end;
  end.process = std::move(process);
  const RunId run = std::exchange(run_, {});
  handler_.on_ended(run, std::move(end));
}

}  // namespace w8y::executor
