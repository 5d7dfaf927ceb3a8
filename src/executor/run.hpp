// One run of a program for one item, from the claim to its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/executor.hpp"
#include "core/line_splitter.hpp"
#include "core/timers.hpp"
#include "executor/account_cache.hpp"
#include "executor/executor_factory.hpp"
#include "executor/tail.hpp"
#include "process/child.hpp"
#include "process/temp_directory.hpp"

namespace w8y::executor {

class Run;

class RunOwner {
 public:
  virtual ~RunOwner() = default;
  /// Called once, before the run reports its end. The run is destroyed later, by the owner's sweep.
  virtual void on_run_ended(Run& run) = 0;
};

/// Parameters of a run, in addition to its claim.
struct RunSetting {
  ListConfigPtr rule;
  AccountCache& accounts;
  const ExecutorOptions& options;
};

/// Run of a program: waiting (nothing reported yet) → started → ended; or waiting → ended, if there
/// is nothing to run. Its handler is called from the loop only.
class Run : private process::ChildHandler {
 public:
  Run(loop::Loop& loop, RunOwner& owner, RunHandler& handler, const Claim& claim,
      const RunSetting& setting);

  [[nodiscard]] const RunId& id() const { return id_; }
  [[nodiscard]] std::string tail() const { return tail_.text(); }
  void stop();
  void kill();

 private:
  // ChildHandler
  void on_begun() override { report_started(); }
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_ended(ProcessEnd end) override;

  void begin(loop::Loop& loop, const Claim& claim, const RunSetting& setting);
  std::optional<NotStarted> prepare(const Claim& claim, const RunSetting& setting, Instant now,
                                    process::ChildOptions& options);
  void report_started();
  void log_lines();
  void on_line(std::string_view line, bool cut);
  void on_message(Message&& message);
  void keep_result(std::string_view bytes);
  void finish_result(const ProcessEnd& end);
  [[nodiscard]] Complete result_of(bool cut);
  void on_bad_line(BadLine&& bad);
  /// Returns whether standard output is the result.
  [[nodiscard]] bool has_result() const {
    return rule_->is_command() && rule_->result != ResultKind::none;
  }
  void log(std::string_view line, bool cut) { handler_.on_log(id_, line, cut); }

  RunOwner& owner_;
  RunHandler& handler_;
  const RunId id_;
  const ListConfigPtr rule_;
  Timer soon_;
  LineSplitter out_lines_;
  LineSplitter err_lines_;
  Tail tail_;
  std::string result_;  ///< standard output of a command, at most one byte more than `max_result`
  RunEnd end_;
  bool reported_started_ = false;
  process::TempDirectory directory_;
  std::optional<process::Child> child_;
};

}  // namespace w8y::executor
