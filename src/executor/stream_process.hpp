// Life cycle of one `stream` process; StreamSession holds its dialogue. States:
//
// - `serving` – accepts items, except while one of its runs is being cancelled
// - `draining` – accepts no more items, and finishes open runs
// - `closing_stdin` – has no open runs and is at end of file; has `kill_grace` to exit
// - `stopping` – received a signal; its open runs get no more results
// - `ended` – has exited
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/executor.hpp"
#include "core/timers.hpp"
#include "executor/account_cache.hpp"
#include "executor/executor_factory.hpp"
#include "executor/stream_session.hpp"
#include "process/child.hpp"
#include "process/temp_directory.hpp"

namespace w8y::executor {

class StreamProcess;

/// End of a process. The owner uses it to decide when to start the next one.
struct StreamEnd {
  ProcessEnd process;
  bool unasked = false;            ///< the process ended by itself, with an error
  std::vector<StreamItem> unread;  ///< items that it never read: another process may run them
};

class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void on_run_over(StreamProcess& process, const RunId& run, RunEnd&& end) = 0;
  /// Called when the process accepts items again.
  virtual void on_room(StreamProcess& process) = 0;
  /// Called when the process accepts no more items, because of its age or number, but still has
  /// open runs.
  virtual void on_leaving(StreamProcess& process) = 0;
  /// Called once, last. The process is destroyed later, by the owner's sweep.
  virtual void on_process_ended(StreamProcess& process, StreamEnd&& end) = 0;
};

struct StreamSetting {
  ListConfigPtr rule;
  std::size_t max_open = 1;  ///< runs at once
  AccountCache& accounts;
  const ExecutorOptions& options;
};

enum class StreamState { serving, draining, closing_stdin, stopping, ended };

/// Stream process. Its constructor spawns it, at once or later (see SpawnService). If that fails,
/// the loop calls on_process_ended(NotStarted). Its owner and its handler are called from the loop
/// only, never from inside a call.
class StreamProcess : private process::ChildHandler, private StreamSessionHandler {
 public:
  /// Maximum number of bytes that wait for a process that does not read. One item may be longer.
  static constexpr std::size_t max_unwritten = std::size_t{1} << 20;
  /// Number of collected bytes from which they are written before the end of the loop iteration, so
  /// that the process can start with them.
  static constexpr std::size_t worth_writing = std::size_t{32} << 10;
  /// Age at which a process counts as started successfully.
  static constexpr Duration proof_by_age = std::chrono::seconds(1);

  StreamProcess(loop::Loop& loop, StreamOwner& owner, RunHandler& handler,
                const StreamSetting& setting);

  [[nodiscard]] StreamState state() const { return state_; }
  [[nodiscard]] pid_t pid() const { return pid_; }  ///< 0: being started, or the start failed
  /// Returns whether the process is being started. It accepts items when it runs.
  [[nodiscard]] bool starting() const { return state_ == StreamState::serving && pid_ == 0; }
  [[nodiscard]] std::size_t open() const { return dialogue_.open(); }
  [[nodiscard]] bool has(const RunId& run) const { return dialogue_.has(run); }
  [[nodiscard]] std::string tail(const RunId& run) const { return dialogue_.tail(run); }
  /// Returns whether it has run an item or reached `proof_by_age`.
  [[nodiscard]] bool proven() const;
  [[nodiscard]] Instant started() const { return started_; }
  [[nodiscard]] bool accepts(std::size_t bytes) const;

  /// Adds an item. Its line is written together with others, at the latest by write_gathered().
  void send(StreamItem&& item);
  /// Writes the lines of added items. Called in the same loop iteration.
  void write_gathered();
  /// Requests the cancellation of a run. If there is no result within `kill_grace`, the process is
  /// stopped.
  void cancel(const RunId& run);
  /// Sends SIGKILL to the process, because of this run.
  void kill(const RunId& run);
  void kill();
  /// Accepts no more items. Without open runs, the process is stopped at once.
  void leave();
  /// Moves a process without open runs to another owner. Its output is no longer reported.
  void move_to(StreamOwner& owner);

 private:
  // ChildHandler
  void on_begun() override;
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_input_taken() override { owner_->on_room(*this); }
  void on_ended(ProcessEnd end) override;
  // StreamSessionHandler
  void on_message(const RunId& run, Message&& message) override;
  void on_log(const RunId& run, std::string_view line, bool cut) override;
  void on_news(const ProcessEvent& news) override;
  void on_answer() override;
  void on_run_over(const RunId& run, RunEnd&& end) override;

  std::optional<NotStarted> prepare(const StreamSetting& setting, process::ChildOptions& options);
  void limit_age();
  void gather(const std::string& line);
  void report_begun();
  void log_lines();
  void flush();
  void close_if_done();
  void close();
  void check_cancels();
  void end_it();

  loop::Loop& loop_;
  StreamOwner* owner_;
  RunHandler* handler_;  ///< nullptr: output is not reported
  const ListConfigPtr rule_;
  const std::size_t max_open_;
  Instant started_;
  StreamState state_ = StreamState::serving;
  pid_t pid_ = 0;

  StreamSession dialogue_;
  std::size_t given_ = 0;
  std::string gathered_;  ///< lines for its input that are written together
  bool reported_begun_ = false;

  Timer soon_;
  Timer age_;
  Timer grace_;  ///< time until the process is stopped
  process::TempDirectory directory_;
  std::optional<process::Child> child_;
};

}  // namespace w8y::executor
