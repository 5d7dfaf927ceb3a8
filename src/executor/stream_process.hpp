// The life of one `stream` process: what is said in it is the dialogue's.
//
//   serving  takes items; while a run of it is asked to cancel, no new ones
//   leaving  takes no more, and finishes what is open
//   closing  has nothing open and is at end of file: has `kill_grace` to exit
//   ending   was told to end by a signal; what is still open in it is not answered for
//   ended    for good
#pragma once

#include <cstddef>
#include <cstdint>
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

/// How a process ended, for whoever decides about the next one.
struct StreamEnd {
  ProcessEnd process;
  bool unasked = false;            ///< by itself, and not in good order
  std::vector<StreamItem> unread;  ///< items that it never read: another may have them
};

class StreamOwner {
 public:
  virtual ~StreamOwner() = default;
  virtual void on_run_over(StreamProcess& process, const RunId& run, RunEnd&& end) = 0;
  /// It may take items that it didn't take before.
  virtual void on_room(StreamProcess& process) = 0;
  /// It takes no more, of age or number, while it has runs to finish.
  virtual void on_leaving(StreamProcess& process) = 0;
  /// Once, last; it is destroyed later, by the owner's sweep.
  virtual void on_process_ended(StreamProcess& process, StreamEnd&& end) = 0;
};

struct StreamSetting {
  ListConfigPtr rule;
  std::size_t max_open = 1;  ///< runs at once
  AccountCache& accounts;
  const ExecutorOptions& options;
};

enum class StreamState { serving, draining, closing_stdin, stopping, ended };

/// Spawned by its constructor, at once or later (see SpawnService). One that can't be had is told
/// as on_process_ended(NotStarted) from the loop. Its owner and its handler are told from the loop
/// only, never from inside a call.
class StreamProcess : private process::ChildHandler, private StreamSessionHandler {
 public:
  /// Bytes that wait for a process that doesn't read; one item may be longer.
  static constexpr std::size_t max_unwritten = std::size_t{1} << 20;
  /// Bytes that are written without waiting for the turn's end: the process begins with them.
  static constexpr std::size_t worth_writing = std::size_t{32} << 10;
  /// A process that has lived so long was started well.
  static constexpr Duration proof_by_age = std::chrono::seconds(1);

  StreamProcess(loop::Loop& loop, StreamOwner& owner, RunHandler& handler,
                const StreamSetting& setting);

  [[nodiscard]] StreamState state() const { return state_; }
  [[nodiscard]] pid_t pid() const { return pid_; }  ///< 0: it was not started, or not yet
  /// On its way: it takes items when it runs.
  [[nodiscard]] bool starting() const { return state_ == StreamState::serving && pid_ == 0; }
  [[nodiscard]] std::size_t open() const { return dialogue_.open(); }
  [[nodiscard]] bool has(const RunId& run) const { return dialogue_.has(run); }
  [[nodiscard]] std::string tail(const RunId& run) const { return dialogue_.tail(run); }
  /// Whether it has done something yet, or is old enough.
  [[nodiscard]] bool proven() const;
  [[nodiscard]] Instant started() const { return started_; }
  [[nodiscard]] bool takes(std::size_t bytes) const;

  /// Its line goes out with others, at the latest by write_gathered().
  void give(StreamItem&& item);
  /// To be called in the turn of the loop in which items were given.
  void write_gathered();
  /// Asks it to give the run up; if it has not answered within `kill_grace`, the process is ended.
  void cancel(const RunId& run);
  /// SIGKILL to the process, for the sake of this run.
  void kill(const RunId& run);
  void kill();
  /// Takes no more. With nothing open it is told to end at once.
  void leave();
  /// Another owner for one with nothing open; what it says is not told any more.
  void move_to(StreamOwner& owner);

 private:
  // of ChildHandler
  void on_begun() override;
  void on_output(process::Stream stream, std::string_view bytes) override;
  void on_input_taken() override { owner_->on_room(*this); }
  void on_ended(ProcessEnd end) override;
  // of StreamSessionHandler
  void on_message(const RunId& run, Message&& message) override;
  void on_log(const RunId& run, std::string_view line, bool cut) override;
  void on_news(const ProcessEvent& news) override;
  void on_answer() override;
  void on_run_over(const RunId& run, RunEnd&& end) override;

  std::optional<NotStarted> prepare(const StreamSetting& setting, process::ChildOptions& options);
  void limit_age();
  void gather(const std::string& line);
  void tell_begun();
  void tell_lines();
  void flush();
  void close_if_done();
  void close();
  void look_at_cancels();
  void end_it();

  loop::Loop& loop_;
  StreamOwner* owner_;
  RunHandler* handler_;  ///< nullptr: nobody listens
  const ListConfigPtr rule_;
  const std::size_t max_open_;
  Instant started_;
  StreamState state_ = StreamState::serving;
  pid_t pid_ = 0;

  StreamSession dialogue_;
  std::size_t given_ = 0;
  std::string gathered_;  ///< lines for its input that are to be written together
  bool told_begun_ = false;

  Timer soon_;
  Timer age_;
  Timer grace_;  ///< until the process is ended
  process::TempDirectory directory_;
  std::optional<process::Child> child_;
};

}  // namespace w8y::executor
