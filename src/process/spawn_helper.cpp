#include "process/spawn_helper.hpp"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#include "process/env_file.hpp"
#include "process/spawn_child.hpp"
#include "process/spawn_plan.hpp"
#include "process/spawn_protocol.hpp"

namespace w8y::process {

namespace {

constexpr int our_socket = STDIN_FILENO;
constexpr std::size_t max_text = 2000;  // of a failure; a write to a pipe is then atomic

void wipe(std::string& text) {
  explicit_bzero(text.data(), text.size());
}

void wipe(std::vector<std::string>& texts) {
  for (std::string& text : texts) wipe(text);
}

/// Runs the child in its own memory, where it may still allocate.
[[noreturn]] void be_child(SpawnRequest& request, int status, pid_t parent) {
  ChildPlan plan;
  SpawnScratch scratch;
  try {
    // Before steps that may block, so that the child ends together with w8yd.
    if (request.die_with_parent) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!request.env_file.empty()) {
      if (const auto problem = add_env_file(request)) {
        const SpawnFailure failure{Step::environment, problem->error, 0, false, problem->of_host};
        report_failure(status, failure, problem->text.data(),
                       std::min(problem->text.size(), max_text));
        _exit(127);
      }
    }
    lay_out(request, scratch, plan);
    plan.realtime_signals = realtime_signals();
  } catch (const std::bad_alloc&) {
    report_failure(status, SpawnFailure{Step::clone, ENOMEM}, nullptr, 0);
    _exit(127);
  }
  plan.status = status;
  plan.parent = parent;
  run_child(&plan);
  _exit(127);
}

class Helper {
 public:
  Helper() : parent_(getppid()) {}

  void serve() {
    while (receive_request(our_socket, bytes_, fds_)) {
      SpawnReply reply;
      Fd pidfd;
      SpawnRequest request;
      if (decode(bytes_, reply.id, request)) {
        start(request, reply, pidfd);
      } else {
        reply.error = EPROTO;
      }
      // Children must not inherit contents of this request.
      wipe(bytes_);
      for (auto* texts : {&request.argv, &request.env, &request.env_over}) wipe(*texts);
      fds_ = SpawnFds();
      if (!send_reply(our_socket, reply, pidfd.get())) return;
    }
  }

 private:
  void start(SpawnRequest& request, SpawnReply& reply, Fd& pidfd) {
    request.in = fds_.streams[0].get();
    request.out = fds_.streams[1].get();
    request.err = fds_.streams[2].get();
    int fd = -1;
    const pid_t pid = clone_copy(fds_.group.get(), fd, reply.group_error);
    if (pid == 0) be_child(request, fds_.status.get(), parent_);
    if (pid < 0) {
      reply.error = errno;
      return;
    }
    reply.pid = pid;
    pidfd = Fd(fd);
  }

  const pid_t parent_;
  std::string bytes_;
  SpawnFds fds_;
};

}  // namespace

int run_spawn_helper() {
  // Users of children must not be able to inspect this process.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "w8yd-spawn", 0, 0, 0);
  try {
    Helper().serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "w8yd: the process that starts children failed: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace w8y::process
