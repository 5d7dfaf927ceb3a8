// Child process with three pipes on the loop. It has ended when it has exited, and its standard
// output and standard error are at end of file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/outcome.hpp"
#include "process/cgroup.hpp"
#include "process/spawn.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::process {

class SpawnService;

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
class Child {
 public:
  Child(loop::Loop& loop, ChildOptions options, ChildHandler& handler);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const;  ///< 0: not started
  /// Resources that its processes used; valid after on_ended(). Without a control group, only those
  /// of the child and of the processes that it waited for.
  [[nodiscard]] const ResourceUse& used() const;
  /// Sends SIGTERM (and SIGCONT) to the group, and SIGKILL after `kill_grace`. No effect if
  /// repeated.
  void stop();
  /// Sends SIGKILL to the group.
  void kill();
  /// Sends a signal to the process only.
  void signal(int number);

  /// Subtracts `time` from the handling time that is charged to the child, for output that w8yd
  /// requested. Must be called in on_output().
  void excuse(Duration time);

  // With `keep_input`.
  /// Writes as much as the pipe has room for, the rest as the child reads. Check write_error()
  /// first.
  void write(std::string_view bytes);
  /// Closes the input, after all bytes were written.
  void end_input();
  /// Returns whether the child has closed its end or exited.
  [[nodiscard]] bool input_closed() const;
  /// Returns the bytes that wait for room in the pipe.
  [[nodiscard]] std::size_t unwritten() const;
  /// Returns the number of bytes of write() that the child has not read. Also valid after its end.
  [[nodiscard]] std::size_t unread() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::process
