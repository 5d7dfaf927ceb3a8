// One child process with its three pipes on the loop, until it has ended three ways: the process
// has exited, its standard output and its standard error are at end of file.
#pragma once

#include <functional>
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
  /// It runs; only of one that did not run yet when it was constructed. Before any output.
  virtual void on_begun() {}
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  /// With `keep_input`: what had to wait is taken, or nobody reads any more.
  virtual void on_input_taken() {}
  /// Once, last: it has ended three ways. The child may be destroyed by the owner's sweep after
  /// this, not inside it.
  virtual void on_ended(ProcessEnd end) = 0;
};

struct ChildOptions {
  SpawnRequest spawn;
  std::string input;        ///< written to standard input, then end of file
  bool keep_input = false;  ///< instead of `input`: written by and by, see Child::write()
  bool capture = true;      ///< false: no pipes, no input; standard streams as `spawn` says
  Duration kill_grace = std::chrono::seconds(10);
  ControlGroups* groups = nullptr;  ///< it gets one of these, with these limits
  GroupLimits limits;
  /// For starts that may take long; nullptr: they are waited for.
  SpawnService* service = nullptr;
};

/// Spawned by its constructor or, with a service, later: then pid() is 0 until on_begun(). A spawn
/// that fails is told as on_ended(NotStarted) from the loop. Reading is fair: at most 64 KiB of a
/// stream per turn of the loop, and a share of its time (see OutputPipe). A grandchild that keeps
/// an output open after the process has exited is given `kill_grace`, then the group gets SIGKILL.
/// If the pipe is still open a second later (the grandchild left the group), it is closed. When the
/// child has ended, whatever is left of its process group gets SIGKILL. With a control group, so
/// does whatever is left in that: a grandchild in a session of its own goes too, and needn't be
/// waited for when the group is killed. Input goes out as the child takes it. A child that never
/// reads, or closes its end, is fine: for that the program must ignore SIGPIPE. A child without a
/// session of its own shares our process group, so there "the group" is the process alone.
/// Destroying a Child before its end kills the group and forgets it. Children die with the thread
/// that made them, so that is to be the loop's.
class Child {
 public:
  Child(loop::Loop& loop, ChildOptions options, ChildHandler& handler);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const;  ///< 0: not started
  /// Resources that its processes used; valid from on_ended() on. Without a control group, only
  /// those of the child and of the processes that it waited for.
  [[nodiscard]] const ResourceUse& used() const;
  /// SIGTERM (and SIGCONT) to the group, SIGKILL after `kill_grace`. Again: nothing more.
  void stop();
  /// SIGKILL to the group, now.
  void kill();
  /// To the process only.
  void signal(int number);

  /// What it writes to standard output now was asked for, as far as handling it takes no longer: it
  /// is not paced for that. From inside on_output().
  void excuse(Duration time);

  // With `keep_input`.
  /// At once as far as the pipe has room, the rest as it is read: look at write_error() first.
  void write(std::string_view bytes);
  /// End of file, after what was written.
  void end_input();
  /// It has closed its end, or exited.
  [[nodiscard]] bool input_closed() const;
  /// Bytes that wait for room in the pipe.
  [[nodiscard]] std::size_t unwritten() const;
  /// Bytes of write() that it has not read; after its end, that it never read.
  [[nodiscard]] std::size_t unread() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace w8y::process
