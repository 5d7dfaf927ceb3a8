// Child process with three pipes on the loop. It has ended when it has exited, and its standard
// output and standard error are at end of file.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/outcome.hpp"
#include "process/cgroup.hpp"
#include "process/pipes.hpp"
#include "process/spawn_service.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::process {

enum class Stream { out, err };

class ChildHandler {
 public:
  virtual ~ChildHandler() = default;
  /// Called when the child runs, before any output; only if it did not run yet when it was
  /// constructed.
  virtual void on_begun() {}
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  /// With `keep_input`: called when all waiting input was written, or the reader has closed its
  /// end.
  virtual void on_input_taken() {}
  /// Called once, last, when the child has ended. The owner's sweep may destroy the child after
  /// this call, but not inside it.
  virtual void on_ended(ProcessEnd end) = 0;
};

struct ChildOptions {
  SpawnRequest spawn;
  std::string input;        ///< written to standard input, then end of file
  bool keep_input = false;  ///< instead of `input`: see Child::write()
  bool capture = true;      ///< false: no pipes, no input; standard streams as in `spawn`
  Duration kill_grace = std::chrono::seconds(10);
  ControlGroups* groups = nullptr;  ///< source of a control group with these limits; nullptr: none
  GroupLimits limits;
  /// For starts that may block; nullptr: the constructor waits for them.
  SpawnService* service = nullptr;
};

/// Child process. Its constructor spawns it or, with a service, it starts later: pid() is 0 until
/// on_begun(). If the spawn fails, the loop calls on_ended(NotStarted).
///
/// Reading is fair: at most 64 KiB of a stream per loop iteration, and a share of the loop's time
/// (see OutputPipe). Input waits until the child reads it. It is no error if a child never reads or
/// closes its end. This process must ignore SIGPIPE.
///
/// If a grandchild keeps an output open after the process has exited, the group gets SIGKILL after
/// `kill_grace`. If the pipe is still open one second later (the grandchild left the group), it is
/// closed. When the child has ended, the remaining processes of its process group and of its
/// control group get SIGKILL. A control group also contains a grandchild in its own session. A
/// child without its own session shares the process group of this process; "the group" is then the
/// child alone.
///
/// The destructor kills the group of a child that has not ended, and does not wait for it. Must be
/// constructed on the loop's thread: the kernel kills a child when the thread that spawned it ends.
class Child final : private SpawnClient {
 public:
  Child(loop::Loop& loop, ChildOptions options, ChildHandler& handler);
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }  ///< 0: not started
  /// Resources that its processes used; valid after on_ended(). Without a control group, only those
  /// of the child and of the processes that it waited for.
  [[nodiscard]] const ResourceUse& used() const { return used_; }
  /// Sends SIGTERM (and SIGCONT) to the group, and SIGKILL after `kill_grace`. No effect if
  /// repeated.
  void stop();
  /// Sends SIGKILL to the group.
  void kill();
  /// Sends a signal to the process only.
  void signal(int number) const;

  /// Subtracts `time` from the handling time that is charged to the child, for output that w8yd
  /// requested. Must be called in on_output().
  void excuse(Duration time) {
    if (out_) out_->excuse(time);
  }

  // With `keep_input`.
  /// Writes as much as the pipe has room for, the rest as the child reads. Check write_error()
  /// first.
  void write(std::string_view bytes);
  /// Closes the input, after all bytes were written.
  void end_input();
  /// Returns whether the child has closed its end or exited.
  [[nodiscard]] bool input_closed() const { return !in_ || !in_->is_open(); }
  /// Returns the bytes that wait for room in the pipe.
  [[nodiscard]] std::size_t unwritten() const { return in_ ? in_->waiting() : 0; }
  /// Returns the number of bytes of write() that the child has not read. Also valid after its end.
  [[nodiscard]] std::size_t unread() const { return in_ ? in_->unread() : 0; }

 private:
  // SpawnClient
  void on_spawned(Spawned&& spawned) override;
  void on_not_spawned(const SpawnError& error) override;

  void start(ChildOptions& options);
  std::array<Fd, 3> open_pipes(ChildOptions& options);
  bool set_group(ChildOptions& options);
  void begin(const Spawned& spawned);
  void fail(const SpawnError& error);
  void abandon();
  void on_exited();
  void close_outputs();
  void end_if_over();
  void signal_group(int number) const;

  // Three parts must end: the process (`exited_`), `out_` and `err_`. The process is reaped when
  // all have ended. Until then its PID, which is also the ID of its process group, cannot be
  // reused. `deadline_` is set while a stop is in progress, or other processes keep outputs open.
  loop::Loop& loop_;
  ChildHandler& handler_;
  const Duration kill_grace_;
  const bool own_group_;
  Timer deadline_;

  std::unique_ptr<PendingSpawn> spawning_;  ///< done once pid_ is known
  pid_t pid_ = 0;
  Fd pidfd_;
  std::optional<RunGroup> group_;
  ResourceUse used_;
  std::optional<loop::Watch> exit_watch_;
  std::optional<InputPipe> in_;
  std::optional<OutputPipe> out_;
  std::optional<OutputPipe> err_;
  bool exited_ = false;
  bool stopping_ = false;
  bool killed_ = false;
  bool ended_ = false;
};

}  // namespace w8y::process
