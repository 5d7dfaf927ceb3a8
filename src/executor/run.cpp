#include "executor/run.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "executor/child_options.hpp"
#include "executor/environment.hpp"
#include "executor/placeholders.hpp"
#include "loop/loop.hpp"
#include "process/find_program.hpp"

namespace w8y::executor {

namespace {

/// Sets the command line `EXECUTOR [args…] NAME ID LENGTH`. The item, or the payload of a job, is
/// on standard input.
std::optional<NotStarted> call_executor(const Claim& claim, const ListConfig& rule,
                                        process::ChildOptions& options) {
  options.input = claim.call.input.value_or(claim.item);
  auto& argv = options.spawn.argv;
  options.spawn.program = rule.executor;
  argv.reserve(rule.args->size() + 4);
  argv.push_back(rule.executor);
  argv.insert(argv.end(), rule.args->begin(), rule.args->end());
  argv.push_back(claim.call.name.value_or(rule.prefix));
  argv.push_back(claim.call.id.value_or(claim.run.str()));
  if (auto why_not = no_argument("the ID of the job", argv.back())) return why_not;
  argv.push_back(std::to_string(options.input.size()));
  return std::nullopt;
}

/// Sets the command line of the config. `{}` in an argument is replaced by the item.
std::optional<NotStarted> call_command(const Claim& claim, const ListConfig& rule,
                                       process::ChildOptions& options) {
  const std::string& program = rule.command->front();
  // With a slash there is no search, and the exec reports errors.
  options.spawn.program = program;
  if (program.find('/') == std::string::npos) {
    auto found = process::find_program(program);
    if (found.path.empty())
      return NotStarted{"cannot run " + program + ": " + found.problem, false, false, true};
    options.spawn.program = std::move(found.path);
  }
  if (claim.call.input) options.input = *claim.call.input;
  return fill_in(rule.command, claim.item, options.spawn.argv);
}

}  // namespace

Run::Run(loop::Loop& loop, RunOwner& owner, RunHandler& handler, const Claim& claim,
         const RunSetting& setting)
    : owner_(owner),
      handler_(handler),
      id_(claim.run),
      rule_(setting.rule),
      soon_(loop.timers()),
      out_lines_(rule_->max_line),
      err_lines_(rule_->max_line),
      tail_(rule_->stderr_tail),
      directory_(loop, setting.options.directories) {
  begin(loop, claim, setting);
}

void Run::begin(loop::Loop& loop, const Claim& claim, const RunSetting& setting) {
  process::ChildOptions options;
  if (auto problem = prepare(claim, setting, loop.now(), options)) {
    soon_.set(loop.now(), [this, problem = std::move(*problem)] { on_ended(problem); });
    return;
  }
  process::ChildHandler& self = *this;
  child_.emplace(loop, std::move(options), self);
  if (child_->pid() != 0) soon_.set(loop.now(), [this] { report_started(); });
}

std::optional<NotStarted> Run::prepare(const Claim& claim, const RunSetting& setting, Instant now,
                                       process::ChildOptions& options) {
  const ListConfig& rule = *setting.rule;
  const auto call = rule.is_command() ? call_command : call_executor;
  if (auto problem = call(claim, rule, options)) return problem;
  if (auto problem = setting.accounts.find_account(rule.child->run_as, now))
    return not_started(*problem);
  const process::Account& account = setting.accounts.account();
  run_environment(claim, rule, account, setting.options.host, options.spawn);
  return set_options(rule, account, setting.options, directory_, options);
}

void Run::stop() {
  if (child_) child_->stop();
}

void Run::kill() {
  if (child_) child_->kill();
}

void Run::report_started() {
  if (std::exchange(reported_started_, true)) return;
  soon_.cancel();
  handler_.on_started(id_, child_->pid());
}

void Run::on_output(process::Stream stream, std::string_view bytes) {
  report_started();
  if (stream == process::Stream::out && has_result()) {
    keep_result(bytes);
  } else if (stream == process::Stream::out) {
    out_lines_.feed(bytes, [this](std::string_view line, bool cut) { on_line(line, cut); });
  } else {
    tail_.add(bytes);
    err_lines_.feed(bytes, [this](std::string_view line, bool cut) { log(line, cut); });
  }
  log_lines();
}

void Run::log_lines() {
  const LineCounts read{out_lines_.drain_counts(), err_lines_.drain_counts()};
  if (read.output.lines + read.errors.lines > 0) handler_.on_lines(read);
}

void Run::on_line(std::string_view line, bool cut) {
  if (rule_->is_command()) {  // its standard output is log output
    log(line, cut);
  } else if (cut) {
    on_bad_line({"longer than " + format_size(rule_->max_line)});
  } else {
    on_message(parse_message(line));
  }
}

void Run::on_message(Message&& message) {
  if (auto* bad = std::get_if<BadLine>(&message)) {
    on_bad_line(std::move(*bad));
    return;
  }
  if (const auto* print = std::get_if<Print>(&message)) tail_.add_line(print->content);
  auto* complete = std::get_if<Complete>(&message);
  if (complete == nullptr) {
    handler_.on_message(id_, std::move(message));
    return;
  }
  if (end_.complete) {
    on_bad_line({"a second \"complete\" message"});
    return;
  }
  end_.complete = *complete;
  handler_.on_message(id_, std::move(message));
  if (!end_.complete->mistake.empty()) on_bad_line({end_.complete->mistake});
}

void Run::keep_result(std::string_view bytes) {
  result_ += bytes.substr(0, rule_->max_result + 1 - result_.size());
}

/// Makes standard output the result of a run that succeeds. Otherwise it is log output.
void Run::finish_result(const ProcessEnd& end) {
  const auto* exited = std::get_if<Exited>(&end);
  const auto& codes = rule_->child->success_exit_codes;
  const bool cut = result_.size() > rule_->max_result;
  if (cut) result_.resize(rule_->max_result);
  const bool succeeds =
      exited != nullptr && std::find(codes.begin(), codes.end(), exited->code) != codes.end();
  if (succeeds) {
    Complete complete = result_of(cut);
    const bool failed = complete.error.has_value();
    on_message(std::move(complete));
    if (!failed) return;
  }
  tail_.add(result_);
  out_lines_.feed(result_, [this](std::string_view line, bool long_line) { log(line, long_line); });
}

Complete Run::result_of(bool cut) {
  Complete complete;
  if (rule_->result == ResultKind::output) {
    complete.is_text = true;
    if (cut) log("the result is truncated to max_result, " + format_size(rule_->max_result), false);
    if (result_.ends_with('\n') && !cut) result_.pop_back();
    complete.result = std::move(result_);
    return complete;
  }
  if (cut) {
    complete.error = "its standard output is longer than max_result, " +
                     format_size(rule_->max_result) + ", and result = \"json\" needs all of it";
  } else if (auto wrong = json_text::error(result_)) {
    complete.error =
        result_.empty()
            ? std::string("its standard output is empty, and result = \"json\" needs a JSON value")
            : "its standard output is not JSON, but result = \"json\" needs a JSON value: " +
                  *wrong;
  }
  if (complete.error) {
    complete.result = R"({"error":)" + escape_json(*complete.error) + "}";
  } else {
    complete.result = std::move(result_);
  }
  return complete;
}

void Run::on_bad_line(BadLine&& bad) {
  ++end_.bad_lines;
  handler_.on_message(id_, std::move(bad));
}

void Run::on_ended(ProcessEnd end) {
  if (!std::holds_alternative<NotStarted>(end)) report_started();
  if (has_result()) finish_result(end);
  out_lines_.finish([this](std::string_view line, bool cut) { on_line(line, cut); });
  err_lines_.finish([this](std::string_view line, bool cut) { log(line, cut); });
  log_lines();
  end_.process = std::move(end);
  if (child_) end_.used = child_->used();
  end_.stderr_tail = tail_.drain();
  owner_.on_run_ended(*this);
  handler_.on_ended(id_, std::move(end_));
}

}  // namespace w8y::executor
