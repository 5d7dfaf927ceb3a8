#include "process/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "loop/loop.hpp"
#include "process/error_text.hpp"
#include "process/orphans.hpp"
#include "process/unreaped_children.hpp"

namespace w8y::process {

namespace {

/// Time that an output may stay open after the group got SIGKILL.
constexpr auto close_delay = std::chrono::seconds(1);

}  // namespace

Child::Child(loop::Loop& loop, ChildOptions options, ChildHandler& handler)
    : loop_(loop),
      handler_(handler),
      kill_grace_(options.kill_grace),
      own_group_(options.spawn.own_session),
      deadline_(loop.timers()) {
  forgotten().sweep();
  try {
    start(options);
  } catch (const std::system_error& problem) {
    abandon();
    const int error = problem.code().value();
    fail({error, problem.what()});
  } catch (const std::bad_alloc&) {
    abandon();
    fail({ENOMEM, "cannot create a process: no memory"});
  }
}

Child::~Child() {
  abandon();
  forgotten().sweep();
}

/// Opens the pipes. Keeps this process's ends, and returns the child's ends for 0, 1 and 2.
std::array<Fd, 3> Child::open_pipes(ChildOptions& options) {
  std::array<Fd, 3> theirs;
  SpawnRequest& request = options.spawn;
  if (options.keep_input) {
    in_.emplace(loop_, [this] { handler_.on_input_taken(); });
    theirs[0] = in_->open();
    request.in = theirs[0].get();
  } else if (options.input.empty()) {
    request.in = null_device();
  } else {
    in_.emplace(loop_, std::move(options.input));
    theirs[0] = in_->open();
    request.in = theirs[0].get();
  }
  out_.emplace(
      loop_, [this](std::string_view bytes) { handler_.on_output(Stream::out, bytes); },
      [this] { end_if_over(); });
  err_.emplace(
      loop_, [this](std::string_view bytes) { handler_.on_output(Stream::err, bytes); },
      [this] { end_if_over(); });
  theirs[1] = out_->open();
  theirs[2] = err_->open();
  request.out = theirs[1].get();
  request.err = theirs[2].get();
  return theirs;
}

/// Acquires a group. False: that failed, and was reported.
bool Child::set_group(ChildOptions& options) {
  if (options.groups == nullptr) return true;
  int error = 0;
  group_ = options.groups->acquire(options.limits, error);
  if (error != 0) {
    abandon();
    fail({error, "cannot create a control group: " + error_text(error), true});
    return false;
  }
  if (group_) options.spawn.group = group_->directory();
  return true;
}

void Child::start(ChildOptions& options) {
  SpawnRequest& request = options.spawn;
  std::array<Fd, 3> theirs;
  if (options.capture) theirs = open_pipes(options);
  if (!set_group(options)) return;
  if (options.service != nullptr && options.capture && !options.service->is_direct(request)) {
    // Output before on_begun() waits in the pipes.
    if (out_) out_->hold();
    if (err_) err_->hold();
    SpawnClient& self = *this;
    spawning_ = std::make_unique<PendingSpawn>(loop_, *options.service, std::move(request),
                                               std::move(theirs), self);
    return;
  }
  Spawned spawned;
  if (const auto error = spawn(request, spawned)) {
    abandon();
    fail(*error);
    return;
  }
  started_children().insert(spawned.pid);
  begin(spawned);
}

void Child::begin(const Spawned& spawned) {
  pid_ = spawned.pid;
  pidfd_ = Fd(spawned.pidfd);
  if (spawned.group_error != 0 && group_) {
    group_->refused(spawned.group_error);
    group_.reset();
  }
  exit_watch_.emplace(loop_, pidfd_.get(), [this](bool, bool) { on_exited(); });
  exit_watch_->want(true, false);
}

void Child::on_spawned(Spawned&& spawned) {
  begin(spawned);
  if (killed_) kill();  // including processes that it may have started
  if (out_) out_->release();
  if (err_) err_->release();
  handler_.on_begun();
}

void Child::on_not_spawned(const SpawnError& error) {
  in_.reset();
  out_.reset();
  err_.reset();
  group_.reset();
  ended_ = true;
  if (killed_) return handler_.on_ended(Signalled{SIGKILL});
  handler_.on_ended(NotStarted{error.text, false, error.host_is_short(), error.host_lacks()});
}

void Child::fail(const SpawnError& error) {
  const NotStarted why{error.text, false, error.host_is_short(), error.host_lacks()};
  deadline_.set(loop_.now(), [this, end = why] {
    ended_ = true;
    handler_.on_ended(end);
  });
}

/// Kills the child without a call of the handler.
void Child::abandon() {
  deadline_.cancel();
  spawning_.reset();
  exit_watch_.reset();
  in_.reset();
  out_.reset();
  err_.reset();
  if (pidfd_) signal_group(SIGKILL);
  group_.reset();
  if (!pidfd_) return;
  forgotten().add(std::move(pidfd_), pid_);
  pid_ = 0;
}

void Child::signal(int number) const {
  if (pidfd_) signal_by(pidfd_.get(), number);
}

void Child::signal_group(int number) const {
  if (!pidfd_) return;
  if (own_group_) {
    ::kill(-pid_, number);
  } else {
    signal(number);
  }
}

void Child::stop() {
  if (spawning_ && !pidfd_) return kill();  // it has not started, so it cannot end by itself
  if (!pidfd_ || stopping_ || killed_) return;
  stopping_ = true;
  signal_group(SIGTERM);
  signal_group(SIGCONT);  // a stopped process would not handle the signal
  deadline_.set(loop_.now() + kill_grace_, [this] { kill(); });
}

void Child::kill() {
  if (spawning_ && !pidfd_ && !ended_) {
    killed_ = true;
    return spawning_->kill();
  }
  if (!pidfd_) return;
  signal_group(SIGKILL);
  if (group_) group_->kill();
  if (std::exchange(killed_, true)) return;
  deadline_.cancel();
  if (exited_) deadline_.set(loop_.now() + close_delay, [this] { close_outputs(); });
}

void Child::on_exited() {
  exited_ = true;
  exit_watch_->want(false, false);
  if (in_) in_->drop();  // a grandchild may have it open
  if (out_) out_->hurry();
  if (err_) err_->hurry();
  end_if_over();
  if (ended_) return;
  if (killed_) {
    deadline_.set(loop_.now() + close_delay, [this] { close_outputs(); });
  } else if (!deadline_.pending()) {
    deadline_.set(loop_.now() + kill_grace_, [this] { kill(); });
  }
}

void Child::close_outputs() {
  if (out_) out_->close();
  if (err_) err_->close();
  end_if_over();
}

void Child::end_if_over() {
  if (ended_ || !exited_ || (out_ && out_->is_open()) || (err_ && err_->is_open())) return;
  if (own_group_) signal_group(SIGKILL);  // its PID is not reused before it is reaped
  ProcessEnd end;
  if (!reap(pidfd_.get(), pid_, end, &used_)) return;  // impossible after its exit
  // The sender of SIGKILL may have killed the group, whose new processes are then killed as well.
  auto* signalled = std::get_if<Signalled>(&end);
  const bool killed = signalled != nullptr && signalled->signal == SIGKILL;
  if (group_) {
    const std::string why = group_->measure(used_);
    if (killed) signalled->why = why;
    if (killed) group_->distrust();
  }
  group_.reset();
  ended_ = true;
  deadline_.cancel();
  exit_watch_.reset();
  pidfd_.reset();
  handler_.on_ended(std::move(end));
}

void Child::write(std::string_view bytes) {
  if (in_) in_->add(bytes);
}

void Child::end_input() {
  if (in_) in_->finish();
}

}  // namespace w8y::process
