// Dialogue of w8yd with one `stream` process (w8y-executor(7)): its open runs, and which of them a
// line belongs to. Independent of the process and of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/executor.hpp"
#include "core/line_splitter.hpp"
#include "core/list_config.hpp"
#include "executor/tail.hpp"

namespace w8y::executor {

/// Run that is being sent to a process.
struct StreamItem {
  RunId run;
  std::string line;       ///< input line for the process
  bool reported = false;  ///< on_started() was called; the earlier process did not read the line
};

class StreamSessionHandler {
 public:
  virtual ~StreamSessionHandler() = default;
  virtual void on_message(const RunId& run, Message&& message) = 0;
  virtual void on_log(const RunId& run, std::string_view line, bool cut) = 0;
  /// Called for lines that belong to no run.
  virtual void on_news(const ProcessEvent& news) = 0;
  /// Called when a run has its result. The handler calls end_answered() soon, but not at once: log
  /// output about the run may still be in the other pipe.
  virtual void on_answer() = 0;
  /// Called when the run is no longer open.
  virtual void on_run_over(const RunId& run, RunEnd&& end) = 0;
};

class StreamSession {
 public:
  /// Number of ended runs that are remembered, to recognize their late lines.
  static constexpr std::size_t max_past = 1024;

  StreamSession(ListConfigPtr rule, StreamSessionHandler& handler);

  // ---- input: each function returns the line to write

  const std::string& begin(const RunId& run, std::string&& line);
  /// Requests the cancellation of a run, with a deadline. Returns an empty line if there is nothing
  /// to request.
  std::string cancel(const RunId& run, Instant by);
  /// Marks the run that is the reason for stopping the process. Returns false if the run is not
  /// open.
  bool give_up(const RunId& run, Instant now);
  /// Returns the number of bytes of all input lines so far.
  [[nodiscard]] std::uint64_t input_bytes() const { return input_bytes_; }

  // ---- output

  void read_output(std::string_view bytes);
  void read_errors(std::string_view bytes);
  /// Finishes the runs that have a result.
  void end_answered();
  /// Called when both outputs are at their end. An incomplete last line counts as a line.
  void finish();
  /// Returns the lines received since the last call.
  LineCounts drain_lines() { return {out_lines_.drain_counts(), err_lines_.drain_counts()}; }
  /// Closes the open runs without a result, when the process has ended.
  /// - `how`: description of the end of the process
  /// - `read`: number of input bytes that the process has read
  /// - `for_another`: the process was stopped because of another run
  /// - `others_may`: another process may run items that this one has not read; they are returned
  ///   and not closed
  std::vector<StreamItem> close(const std::string& how, std::uint64_t read, bool for_another,
                                bool others_may);

  [[nodiscard]] std::size_t open() const { return open_.size(); }
  [[nodiscard]] bool has(const RunId& run) const { return open_.contains(run); }
  /// Returns the log output of an open run, as far as it is known to belong to the run.
  [[nodiscard]] std::string tail(const RunId& run) const {
    const auto found = open_.find(run);
    return found == open_.end() ? std::string() : found->second.stderr_tail.text();
  }
  [[nodiscard]] bool has_answered() const { return has_answered_; }  ///< at any time
  /// Returns the runs that have a result and are still open.
  [[nodiscard]] std::size_t replied_runs() const { return replied_.size(); }
  [[nodiscard]] std::size_t bad_lines() const { return bad_lines_; }
  /// Number of open runs whose cancellation was requested, and the earliest deadline of a result.
  [[nodiscard]] std::size_t cancels() const { return cancels_; }
  [[nodiscard]] std::optional<Instant> first_cancel() const;

 private:
  struct OpenRun {
    explicit OpenRun(std::size_t tail) : stderr_tail(tail) {}
    std::string line;
    std::uint64_t line_end = 0;  ///< end of the line in all input so far
    RunEnd end;
    Tail stderr_tail;                  ///< of the log output that belongs to the run
    std::optional<Instant> cancel_by;  ///< cancellation was requested
    bool replied = false;
  };

  void on_line(std::string_view line, bool cut);
  void on_message(const RunId& id, OpenRun& run, Message&& message);
  void on_bad_line(const RunId& id, OpenRun& run, BadLine&& bad);
  void on_cut_line(std::string_view line);
  void on_foreign_line(const std::string& reason);
  void on_log(std::string_view line, bool cut);
  std::string with_process_tail(Tail& of_run, std::string_view of_process) const;
  void finish_run(RunId&& id);

  const ListConfigPtr rule_;
  StreamSessionHandler& handler_;
  std::unordered_map<RunId, OpenRun> open_;
  std::vector<RunId> replied_;  ///< runs in `open_` that have a result
  std::vector<RunId> past_;     ///< ended runs; at most max_past
  std::size_t next_past_ = 0;   ///< index of the oldest of `past_`, once it is full
  std::size_t cancels_ = 0;
  std::uint64_t input_bytes_ = 0;
  std::size_t bad_lines_ = 0;
  bool has_answered_ = false;
  LineSplitter out_lines_;
  LineSplitter err_lines_;
  Tail tail_;  ///< of the log output that belongs to no run
};

}  // namespace w8y::executor
