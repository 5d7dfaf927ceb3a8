// Tests an executor: `--caps`, then one run per supported kind (w8yctl(1)).
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <utility>

#include "core/ended_run.hpp"
#include "core/escape.hpp"
#include "core/run_id.hpp"
#include "core/units.hpp"
#include "ctl/commands.hpp"
#include "ctl/context.hpp"
#include "ctl/failure.hpp"
#include "ctl/table.hpp"
#include "ctl/text.hpp"
#include "ctl/values.hpp"
#include "executor/executor_factory.hpp"
#include "executor/probe.hpp"

namespace w8y::ctl {

namespace {

constexpr Duration probe_timeout = std::chrono::seconds(5);
constexpr Duration usual_timeout = std::chrono::minutes(1);

/// Prints findings as they occur.
class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}

  void good(const std::string& what, const std::string& text) {
    print("ok", Colour::good, what, text);
  }
  void bad(const std::string& what, const std::string& text) {
    ++errors_;
    print("bad", Colour::bad, what, text);
  }
  /// Prints a remark that is neither good nor bad.
  void add(const std::string& what, const std::string& text) {
    print("note", Colour::none, what, text);
  }
  /// Prints the summary. Returns the exit status.
  int end(const std::string& path) {
    if (json_) {
      core::AsciiObject json;
      json.put("path", path);
      json.put("right", errors_ == 0);
      json.put_json("findings", findings_.finish());
      print_json(json.finish());
    } else if (errors_ == 0) {
      std::cout << "all right\n";
    } else {
      std::cout << errors_ << (errors_ == 1 ? " error\n" : " errors\n");
    }
    return errors_ == 0 ? done : refused;
  }

 private:
  void print(const char* kind, Colour colour, const std::string& what, const std::string& text) {
    if (json_) {
      core::AsciiObject finding;
      finding.put("kind", kind);
      finding.put("what", what);
      finding.put("text", text);
      return findings_.add(finding.finish());
    }
    std::cout << coloured({kind, colour}) << std::string(6 - std::string_view(kind).size(), ' ')
              << escape_line(what + ": " + text)
              << std::endl;  // flushed, since a run may take long
  }

  bool json_;
  std::size_t errors_ = 0;
  core::JsonArray findings_;
};

/// Runs one item and prints each line of output.
class Trial final : private RunHandler {
 public:
  Trial(loop::Loop& loop, Findings& findings, ListConfigPtr rule, const Caps& caps)
      : loop_(loop),
        findings_(findings),
        rule_(std::move(rule)),
        executor_(executor::make_executor(loop, {"check"}, *this, *rule_, caps)),
        timeout_(loop.timers()) {}

  /// Runs the item. A stream process then gets end of file.
  void run(const Item& item) {
    Claim claim;
    std::random_device random;
    claim.run = RunIds(random()).next(loop_.clock().wall());
    claim.item = item;
    claim.fence = 1;
    executor_->start(claim, rule_);
    timeout_.set(loop_.now() + rule_->timeout, [this, run = claim.run] {
      stopped_ = StopReason::timeout;
      executor_->stop(run);
    });
    loop_.run();
  }

 private:
  void on_started(const RunId& run, int pid) override {
    const std::string name = escape_text(rule_->prefix);
    findings_.good("start", "pid " + std::to_string(pid) + ", called with " +
                                (rule_->mode == Mode::stream ? "--stream " + name
                                                             : name + " " + run + " LENGTH"));
  }
  void on_message(const RunId&, Message&& message) override {
    // The error of a `complete` is reported after the Complete, and belongs to the same line.
    if (!std::exchange(error_follows_, false)) ++line_;
    const std::string what = "line " + std::to_string(line_);
    if (const auto* bad = std::get_if<BadLine>(&message))
      findings_.bad(what, escape(bad->reason));
    else if (const auto* progress = std::get_if<Progress>(&message))
      findings_.good(what, "progress, " + number_text(progress->numerator) + " of " +
                               number_text(progress->denominator));
    else if (const auto* update = std::get_if<Update>(&message))
      findings_.good(what, "update, " + escape(update->data));
    else if (const auto* print = std::get_if<Print>(&message))
      findings_.good(what, "print, " + escape_text(print->content));
    else if (const auto* complete = std::get_if<Complete>(&message))
      completed(what, *complete);
  }
  void completed(const std::string& what, const Complete& complete) {
    error_follows_ = !complete.mistake.empty();
    if (complete.error)
      findings_.good(what, "complete, with the error " + escape_text(*complete.error));
    else
      findings_.good(what, "complete, with the result " + escape(complete.result));
  }
  void on_log(const RunId&, std::string_view line, bool cut) override {
    findings_.add("standard error", escape(line) + (cut ? " (truncated)" : ""));
  }
  void on_process(int, const ProcessEvent& news) override {
    if (const auto* line = std::get_if<ProcessLine>(&news)) {
      on_log({}, line->line, line->cut);
    } else if (const auto* bad = std::get_if<ProcessBadLine>(&news)) {
      findings_.bad("line " + std::to_string(++line_), escape(bad->reason));
    } else if (const auto* over = std::get_if<ProcessEnded>(&news)) {
      --processes_;
      print_findings();
      if (over->early) return;  // reported with its run
      if (over->how == end_text(Exited{0})) {
        findings_.good("end of file", over->how);
      } else {
        findings_.bad("end of file",
                      over->how + "; it must exit 0 within " + format_duration(rule_->kill_grace));
      }
    } else {
      ++processes_;
    }
  }
  void print_findings() {
    if (ended_ && processes_ == 0) loop_.stop();
  }
  void on_ended(const RunId&, RunEnd&& end) override {
    ended_ = true;
    timeout_.cancel();
    executor_->retire();
    print_findings();
    const Outcome outcome = outcome_of(*rule_, end, stopped_);
    const bool right =
        std::holds_alternative<Succeeded>(outcome) || std::holds_alternative<Failed>(outcome);
    if (!end.complete && right)
      findings_.add("complete", "none: the exit code alone determines the outcome");
    std::string text = end_text(end.process) + ": the run has " + outcome_name(outcome);
    if (std::holds_alternative<TimedOut>(outcome)) text += ": " + outcome_reason(outcome);
    if (right) {
      findings_.good("end", text);
    } else {
      findings_.bad("end", text);
    }
  }

  loop::Loop& loop_;
  Findings& findings_;
  ListConfigPtr rule_;
  std::unique_ptr<Executor> executor_;
  Timer timeout_;
  std::optional<StopReason> stopped_;
  std::size_t line_ = 0;
  bool error_follows_ = false;
  bool ended_ = false;
  int processes_ = 0;  ///< that run many items
};

std::string caps_text(const Caps& caps) {
  std::string text;
  for (const auto& cap : caps.caps) text += (text.empty() ? "" : ", ") + escape_text(cap);
  if (text.empty()) text = "none";
  if (caps.concurrency > 1) text += "; " + std::to_string(caps.concurrency) + " items at once";
  if (!caps.version.empty()) text += "; version " + escape_text(caps.version);
  return text;
}

/// nullopt: an error was printed.
std::optional<Caps> request_caps(loop::Loop& loop, Findings& findings, const ListConfig& rule) {
  executor::ProcessProber prober(loop);
  std::optional<ProbeResult> answer;
  prober.probe({rule.executor, rule.args, rule.child->run_as}, probe_timeout,
               [&](ProbeResult&& result) { answer = std::move(result); });
  while (!answer) loop.iterate(true);
  if (const auto* refusal = std::get_if<Ineligibility>(&*answer)) {
    findings.bad("--caps", escape(refusal->reason));
    return std::nullopt;
  }
  Caps caps = std::get<Caps>(*answer);
  findings.good("--caps", caps_text(caps));
  if (const std::string why = executor::why_not(rule, caps); !why.empty()) {
    findings.bad("--caps", why);
    return std::nullopt;
  }
  return caps;
}

class CheckExecutor final : public Command {
 public:
  void declare(Arguments& words) override {
    words.one("PATH", "The executor", program_);
    words.any_number("ARGS", "Arguments of the executor, placed first (after --)", args_);
    item_.declare_option(words, "Item of the test run (default: check)");
    declare_duration(words, "--timeout", "a duration, such as 90s",
                     "Maximum duration of the run (default: 1m)", timeout_);
  }

  int run(const Options& options, Context& context) override {
    ListConfig rule;
    rule.prefix = "check";
    rule.executor = std::filesystem::absolute(program_).lexically_normal();
    rule.args = args_;
    rule.timeout = timeout_;
    rule.kill_grace = std::chrono::seconds(2);
    Findings findings(options.json);
    if (const auto caps = request_caps(context.loop(), findings, rule)) {
      const Item item = item_.items.empty() ? "check" : item_.items.front();
      for (const Mode mode : {Mode::single, Mode::stream}) {
        rule.mode = mode;
        if (executor::why_not(rule, *caps).empty())
          Trial(context.loop(), findings, std::make_shared<const ListConfig>(rule), *caps)
              .run(item);
      }
    }
    return findings.end(rule.executor);
  }

 private:
  std::string program_;
  std::vector<std::string> args_;
  ItemArguments item_;
  Duration timeout_ = usual_timeout;
};

}  // namespace

const CommandMaker make_check_executor = new_command<CheckExecutor>;

}  // namespace w8y::ctl
