// What is said between us and one `stream` process (w8y-executor(7)): which runs are open in it,
// and which of them a line is about. Knows neither the process nor the time.
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

/// A run on its way to a process.
struct StreamItem {
  RunId run;
  std::string line;   ///< as the process reads it
  bool told = false;  ///< on_started() was said: a process that ended had not read it yet
};

class StreamSessionHandler {
 public:
  virtual ~StreamSessionHandler() = default;
  virtual void on_message(const RunId& run, Message&& message) = 0;
  virtual void on_log(const RunId& run, std::string_view line, bool cut) = 0;
  /// Of the process: lines that are about no run.
  virtual void on_news(const ProcessEvent& news) = 0;
  /// A run has its answer. To be followed by end_answered(), soon and not at once: what the process
  /// has logged about the run may wait in the other pipe.
  virtual void on_answer() = 0;
  /// The dialogue has forgotten the run.
  virtual void on_run_over(const RunId& run, RunEnd&& end) = 0;
};

class StreamSession {
 public:
  /// Runs that are over whose late lines are known as such.
  static constexpr std::size_t max_past = 1024;

  StreamSession(ListConfigPtr rule, StreamSessionHandler& handler);

  // ---- what goes in: each returns the line to be written

  const std::string& begin(const RunId& run, std::string&& line);
  /// Asks to give the run up by then. Empty: there is nothing to ask.
  std::string cancel(const RunId& run, Instant by);
  /// The process is being ended for the sake of this run. False: it is not open.
  bool give_up(const RunId& run, Instant now);
  /// Bytes of all lines so far.
  [[nodiscard]] std::uint64_t said() const { return said_; }

  // ---- what comes out

  void hear_output(std::string_view bytes);
  void hear_errors(std::string_view bytes);
  /// Ends the runs that are answered for.
  void end_answered();
  /// Both outputs are at their end: what is left in them is a line.
  void finish();
  /// Lines that were heard since this was asked last.
  LineCounts take_lines() { return {out_lines_.take_counts(), err_lines_.take_counts()}; }
  /// The process has ended, so no run of it is answered for any more. `read`: bytes that it has
  /// read of what was said. Returns items that it had not read, if `others_may`: another process
  /// may have them.
  std::vector<StreamItem> close(const std::string& how, std::uint64_t read, bool for_another,
                                bool others_may);

  [[nodiscard]] std::size_t open() const { return open_.size(); }
  [[nodiscard]] bool has(const RunId& run) const { return open_.contains(run); }
  /// Of an open run, as far as it is known that it was its own.
  [[nodiscard]] std::string tail(const RunId& run) const {
    const auto found = open_.find(run);
    return found == open_.end() ? std::string() : found->second.stderr_tail.look();
  }
  [[nodiscard]] bool has_answered() const { return has_answered_; }  ///< ever
  /// Answered for, and not ended yet.
  [[nodiscard]] std::size_t answered() const { return answered_.size(); }
  [[nodiscard]] std::size_t bad_lines() const { return bad_lines_; }
  /// Open runs that were asked to cancel, and when the first of them has to have answered.
  [[nodiscard]] std::size_t cancels() const { return cancels_; }
  [[nodiscard]] std::optional<Instant> first_cancel() const;

 private:
  struct OpenRun {
    explicit OpenRun(std::size_t tail) : stderr_tail(tail) {}
    std::string line;
    std::uint64_t line_end = 0;  ///< where the line ends in all that was said
    RunEnd end;
    Tail stderr_tail;
    std::optional<Instant> cancel_by;  ///< it was asked to
    bool answered = false;
  };

  void on_line(std::string_view line, bool cut);
  void on_message(const RunId& id, OpenRun& run, Message&& message);
  void on_bad_line(const RunId& id, OpenRun& run, BadLine&& bad);
  void on_cut_line(std::string_view line);
  void on_foreign_line(const std::string& reason);
  void on_log(std::string_view line, bool cut);
  void over(RunId&& id);

  const ListConfigPtr rule_;
  StreamSessionHandler& handler_;
  std::unordered_map<RunId, OpenRun> open_;
  std::vector<RunId> answered_;  ///< of those
  std::vector<RunId> past_;      ///< max_past at most
  std::size_t next_past_ = 0;    ///< the oldest of those, once there are so many
  std::size_t cancels_ = 0;
  std::uint64_t said_ = 0;
  std::size_t bad_lines_ = 0;
  bool has_answered_ = false;
  LineSplitter out_lines_;
  LineSplitter err_lines_;
  Tail tail_;
};

}  // namespace w8y::executor
