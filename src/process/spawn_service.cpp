#include "process/spawn_service.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "loop/loop.hpp"
#include "process/cgroup.hpp"
#include "process/child.hpp"
#include "process/orphans.hpp"
#include "process/pipes.hpp"
#include "process/unreaped_children.hpp"

namespace w8y::process {

/// Helper process, spawned directly as a normal child, since its program belongs to w8yd.
class SpawnService::Process : private ChildHandler {
 public:
  Process(loop::Loop& loop, SpawnService& service, const SpawnServiceOptions& options, int socket)
      : service_(service) {
    ChildOptions child;
    child.spawn.program = options.helper.front();
    child.spawn.argv = options.helper;
    child.spawn.argv.front() = "w8yd";
    child.spawn.cwd = "/";
    child.spawn.keep_capabilities = true;  // it changes the user of its children
    // Only these variables, since the children show them until their exec. Lazy binding could leave
    // the contents of registers, which may be secret, on the stack.
    child.spawn.env.emplace_back("LD_BIND_NOW=1");
    if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
      child.spawn.env.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
    child.spawn.in = socket;
    child.spawn.out = null_device();
    child.capture = false;
    child.groups = options.groups;
    ChildHandler& self = *this;
    child_.emplace(loop, std::move(child), self);
  }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }

 private:
  void on_output(Stream, std::string_view) override {}
  void on_ended(ProcessEnd end) override { service_.helper_ended(end_text(end)); }

  SpawnService& service_;
  std::optional<Child> child_;
};

SpawnService::SpawnService(loop::Loop& loop, SpawnServiceOptions options)
    : loop_(loop),
      options_(std::move(options)),
      ways_(loop, [this] { decide(); }),
      sweep_(loop.timers()) {}

SpawnService::~SpawnService() = default;

pid_t SpawnService::helper() const {
  return process_ ? process_->pid() : 0;
}

void SpawnService::decide() {
  for (PendingSpawn* one : std::exchange(undecided_, {}))
    if (one != nullptr) one->decide();
}

void SpawnService::start_helper() {
  if (process_) return;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot create a socket");
  socket_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  watch_.emplace(loop_, socket_.get(), [this](bool readable, bool writable) {
    if (readable) handle_reply();
    if (watch_ && writable && !waiting_.empty()) send_waiting();
  });
  watch_->want(true, false);
  watch_->keep_loop_alive(false);
  process_ = std::make_unique<Process>(loop_, *this, options_, theirs.get());
}

std::uint64_t SpawnService::request(PendingSpawn& asker, const SpawnRequest& request,
                                    SpawnFds&& fds) {
  start_helper();
  const std::uint64_t id = ++next_id_;
  ++announced_children().requested;
  requested_[id] = &asker;
  waiting_.push_back({id, encode(id, request), std::move(fds)});
  send_waiting();
  return id;
}

void SpawnService::forget(std::uint64_t id) {
  if (const auto found = requested_.find(id); found != requested_.end()) found->second = nullptr;
}

int SpawnService::send(const Waiting& request) {
  const SpawnFds& fds = request.fds;
  return send_request(socket_.get(), request.bytes,
                      {fds.status.get(), fds.streams[0].get(), fds.streams[1].get(),
                       fds.streams[2].get(), fds.group.get()});
}

void SpawnService::send_waiting() {
  while (!waiting_.empty()) {
    const int error = send(waiting_.front());
    if (error == EAGAIN) break;
    Waiting sent = std::move(waiting_.front());
    waiting_.pop_front();
    explicit_bzero(sent.bytes.data(), sent.bytes.size());
    if (error == 0) places_.push_back(std::move(sent.fds.streams[0]));
    if (error == 0 || error == EPIPE) continue;  // on_ended() of the helper follows
    SpawnReply reply;
    reply.id = sent.id;
    reply.error = error;
    on_reply(reply, {});
  }
  watch_->want(true, !waiting_.empty());
}

/// Receives one reply, into its reserved descriptor entry.
void SpawnService::handle_reply() {
  if (!places_.empty()) places_.pop_front();
  SpawnReply reply;
  Fd pidfd;
  const int got = receive_reply(socket_.get(), reply, pidfd);
  if (got > 0) return on_reply(reply, std::move(pidfd));
  if (got < 0) watch_->want(false, false);  // on_ended() of the helper follows
}

void SpawnService::on_reply(const SpawnReply& reply, Fd&& pidfd) {
  ++announced_children().replied;
  auto asked = requested_.extract(reply.id);
  const bool taken = reply.pid != 0 && !pidfd;  // another thread used the reserved entry
  if (taken) ::kill(reply.pid, SIGKILL);        // its PID is not reused until Orphans reaps it
  if (reply.pid != 0 && !taken) started_children().insert(reply.pid);
  if (!asked.empty() && asked.mapped() != nullptr)
    return asked.mapped()->on_reply(taken ? SpawnReply{reply.id, 0, EMFILE, 0} : reply,
                                    std::move(pidfd));
  if (!pidfd) return;
  signal_by(pidfd.get(), SIGKILL);
  forgotten().add(std::move(pidfd), reply.pid);
}

void SpawnService::helper_ended(const std::string& why) {
  while (!places_.empty()) handle_reply();  // replies that the helper sent before
  watch_.reset();
  socket_.reset();
  dead_.push_back(std::move(process_));
  sweep_.set(loop_.now(), [this] { dead_.clear(); });
  waiting_.clear();
  for (auto& [id, asker] : std::exchange(requested_, {})) {
    ++announced_children().replied;
    if (asker != nullptr)
      asker->fail({ECHILD, "the process that starts children has ended: " + why, true});
  }
}

}  // namespace w8y::process
