#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/units.hpp"
#include "loop/loop.hpp"
#include "process/orphans.hpp"
#include "process/spawn_plan.hpp"
#include "process/spawn_service.hpp"
#include "process/unreaped_children.hpp"

namespace w8y::process {

namespace {

/// Maximum wait for the end of a process after SIGKILL.
constexpr auto last_wait = std::chrono::seconds(1);

/// Maximum number of children of one kind that blocked before their exec and did not end after
/// SIGKILL. At this number no more are started.
constexpr std::size_t max_stuck = 4;

/// Returns the kind of a start: its user and the paths that may block it. Starts of the same kind
/// are assumed to block for the same reason.
std::string start_kind(const SpawnRequest& request) {
  std::string kind = request.credentials ? std::to_string(request.credentials->uid) : "";
  for (const std::string& part : {request.program, request.cwd, request.env_file})
    (kind += '\0') += request.cwd_is_fresh && part == request.cwd ? "" : part;
  return kind;
}

struct Pipe {
  Fd read;
  Fd write;
};

Pipe make_status_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Copies a descriptor of another owner, since a request may be sent later.
Fd copy_of(int fd) {
  Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw std::system_error(errno, std::generic_category(), "cannot copy a descriptor");
  return copy;
}

}  // namespace

PendingSpawn::PendingSpawn(loop::Loop& loop, SpawnService& service, SpawnRequest request,
                           std::array<Fd, 3> streams, SpawnClient& client)
    : loop_(loop),
      service_(service),
      request_(std::move(request)),
      streams_(std::move(streams)),
      client_(client),
      deadline_(loop.timers()) {
  deadline_.set(loop.now(), [this] { decide(); });
}

PendingSpawn::~PendingSpawn() {
  std::replace(service_.undecided_.begin(), service_.undecided_.end(), this,
               static_cast<PendingSpawn*>(nullptr));
  if (state_ == State::requested) service_.forget(id_);
  if (state_ == State::started) {
    signal_by(pidfd_.get(), SIGKILL);
    abandon();
  }
}

void PendingSpawn::decide() {
  if (state_ != State::deciding) return;
  try {
    if (killed_) return fail({ECANCELED, "it was stopped before it was started"});
    switch (service_.ways_.way(request_)) {
      case SpawnModes::SpawnMode::direct:
        return start_directly();
      case SpawnModes::SpawnMode::by_helper:
        return request_helper();
      case SpawnModes::SpawnMode::unknown:
        service_.await_way(*this);
        deadline_.set(loop_.now() + SpawnModes::timeout, [this] { decide(); });
    }
  } catch (const std::system_error& problem) {
    fail({problem.code().value(), problem.what()});
  } catch (const std::bad_alloc&) {
    fail({ENOMEM, "cannot create a process: no memory"});
  }
}

void PendingSpawn::start_directly() {
  Spawned spawned;
  if (const auto error = spawn(request_, spawned)) return fail(*error);
  started_children().insert(spawned.pid);
  born_ = spawned;
  pidfd_ = Fd(spawned.pidfd);
  succeed();
}

void PendingSpawn::request_helper() {
  if (const auto problem = check_request(request_)) return fail(*problem);
  forgotten().sweep();
  if (const std::size_t stuck = forgotten().of_start(start_kind(request_)); stuck >= max_stuck)
    return fail({ETIMEDOUT,
                 std::to_string(stuck) + " processes were killed before they ran " +
                     request_.program +
                     " and have not ended: a file or directory that they need does not respond",
                 true});
  Pipe pipe = make_status_pipe();
  SpawnFds fds;
  fds.status = std::move(pipe.write);
  const std::array<int, 3> given = {request_.in, request_.out, request_.err};
  for (std::size_t i = 0; i < given.size(); ++i)
    fds.streams.at(i) = streams_.at(i) ? std::move(streams_.at(i)) : copy_of(given.at(i));
  if (request_.group >= 0) fds.group = copy_of(request_.group);
  status_ = std::move(pipe.read);
  watch_.emplace(loop_, status_.get(), [this](bool, bool) { on_status(); });
  deadline_.set(loop_.now() + service_.options_.limit, [this] { on_deadline(); });
  state_ = State::requested;
  id_ = service_.request(*this, request_, std::move(fds));
}

void PendingSpawn::on_reply(const SpawnReply& reply, Fd&& pidfd) {
  if (reply.pid == 0)
    return fail({reply.error, text_of(request_, SpawnFailure{Step::clone, reply.error})});
  state_ = State::started;
  born_ = {reply.pid, -1, reply.group_error};
  pidfd_ = std::move(pidfd);
  if (killed_) signal_by(pidfd_.get(), SIGKILL);
  // A failure that the child has already reported is in the pipe.
  watch_->want(true, false);
}

/// Called when the status pipe is readable. End of file: the child has called exec, or has ended
/// without a report.
void PendingSpawn::on_status() {
  std::array<char, 4096> told;
  ssize_t got = 0;
  do got = read(status_.get(), told.data(), told.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) return;
  SpawnFailure failure;
  if (got >= static_cast<ssize_t>(sizeof failure)) {
    std::memcpy(&failure, told.data(), sizeof failure);
    std::string text(told.data() + sizeof failure, static_cast<std::size_t>(got) - sizeof failure);
    if (text.empty()) text = text_of(request_, failure);
    return fail({failure.error, std::move(text), failure.of_host, what_failed(failure.step)});
  }
  if (!overdue_) return succeed();
  on_deadline();
}

void PendingSpawn::on_deadline() {
  const bool first = !std::exchange(overdue_, true);
  if (first && pidfd_) {
    signal_by(pidfd_.get(), SIGKILL);
    deadline_.set(loop_.now() + last_wait, [this] { on_deadline(); });
    return;
  }
  fail({ETIMEDOUT,
        request_.program + " did not start within " + format_duration(service_.options_.limit) +
            ": it was stopped, or a file or directory that it needs does not respond",
        true});
}

void PendingSpawn::kill() {
  killed_ = true;
  if (pidfd_) signal_by(pidfd_.get(), SIGKILL);
}

void PendingSpawn::abandon() {
  if (pidfd_) forgotten().add(std::move(pidfd_), born_.pid, start_kind(request_));
}

/// Frees the resources of the start, since a run may take long. The child's ends of pipes are the
/// most important.
void PendingSpawn::forget_request() {
  request_ = {};
  for (Fd& stream : streams_) stream.reset();
}

void PendingSpawn::fail(const SpawnError& error) {
  if (state_ == State::requested) service_.forget(id_);
  state_ = State::done;
  deadline_.cancel();
  watch_.reset();
  abandon();
  forget_request();
  client_.on_not_spawned(error);
}

void PendingSpawn::succeed() {
  state_ = State::done;
  deadline_.cancel();
  watch_.reset();
  forget_request();
  born_.pidfd = pidfd_.release();
  client_.on_spawned(Spawned(born_));
}

}  // namespace w8y::process
