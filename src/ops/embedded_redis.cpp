#include "ops/embedded_redis.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "core/fd.hpp"
#include "process/find_program.hpp"

namespace w8y::ops {

namespace {

constexpr Duration check_interval = std::chrono::milliseconds(20);
constexpr std::size_t max_log_line = 1024;

/// Whether a server accepts connections. A connection to a Unix socket succeeds or fails at once.
bool accepts_connections(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy_n(path.begin(), std::min(path.size(), sizeof address.sun_path - 1), address.sun_path);
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string in_words(const ProcessEnd& end) {
  if (const auto* exited = std::get_if<Exited>(&end))
    return "exit status " + std::to_string(exited->code);
  if (const auto* signalled = std::get_if<Signalled>(&end))
    return "signal " + std::to_string(signalled->signal);
  return std::get<NotStarted>(end).reason;
}

}  // namespace

EmbeddedRedis::EmbeddedRedis(loop::Loop& loop, EmbeddedRedisOptions options,
                             EmbeddedRedisHandler& handler)
    : loop_(loop),
      options_(std::move(options)),
      handler_(handler),
      directory_(options_.directory),
      socket_(directory_.path() + "/redis.sock"),
      url_("unix://" + socket_),
      pause_(options_.min_pause),
      timer_(loop.timers()),
      lines_(max_log_line) {
  if (socket_.size() >= sizeof(sockaddr_un::sun_path))
    throw std::runtime_error(
        "the path " + socket_ +
        " is too long for a Unix socket; use a shorter path with --embedded DIR");
  const auto found = process::find_program(options_.program);
  if (found.path.empty())
    throw std::runtime_error("cannot run " + options_.program + ": " + found.problem);
  program_ = found.path;
  timer_.set(loop_.now(), [this] { start(); });
}

void EmbeddedRedis::stop() {
  if (state_ == State::stopping || state_ == State::stopped) return;
  if (!running()) {
    state_ = State::stopping;
    timer_.set(loop_.now(), [this] { end(); });
    return;
  }
  state_ = State::stopping;
  timer_.cancel();
  child_->stop();
}

process::SpawnRequest EmbeddedRedis::request() const {
  process::SpawnRequest spawn;
  spawn.program = program_;
  spawn.argv = {program_,
                "--port",
                "0",
                "--unixsocket",
                socket_,
                "--unixsocketperm",
                "600",
                "--dir",
                directory_.path(),
                "--pidfile",
                directory_.path() + "/redis.pid",
                "--daemonize",
                "no",
                "--appendonly",
                "yes",
                "--save",
                "",
                "--logfile",
                ""};
  for (const char* name : {"PATH", "LANG", "TZ"})
    if (const char* value = std::getenv(name)) spawn.env.push_back(std::string(name) + '=' + value);
  spawn.cwd = directory_.path();
  spawn.umask = 077;
  spawn.no_new_privs = true;
  return spawn;
}

void EmbeddedRedis::start() {
  child_.reset();  // the one that has ended
  if (accepts_connections(socket_)) {
    // This process holds the lock, so the other server has outlived its w8yd briefly, or was
    // started by hand.
    pause("another server already listens on " + socket_ + "; stop it");
    return;
  }
  state_ = State::starting;
  ended_ = false;
  last_line_.clear();
  process::ChildOptions options;
  options.spawn = request();
  options.kill_grace = options_.kill_grace;
  options.groups = options_.groups;
  process::ChildHandler& self = *this;
  child_ = std::make_unique<process::Child>(loop_, std::move(options), self);
  timer_.set(loop_.now() + check_interval, [this] { check(); });
}

void EmbeddedRedis::check() {
  if (!accepts_connections(socket_)) {
    timer_.set(loop_.now() + check_interval, [this] { check(); });
    return;
  }
  state_ = State::up;
  up_since_ = loop_.now();
  handler_.on_redis_up();
}

void EmbeddedRedis::pause(const std::string& why) {
  state_ = State::pausing;
  const Duration pause = pause_;
  pause_ = std::min(pause_ * 2, options_.max_pause);
  timer_.set(loop_.now() + pause, [this] { start(); });
  handler_.on_redis_down(why, pause);
}

void EmbeddedRedis::end() {
  state_ = State::stopped;
  handler_.on_redis_stopped();
}

void EmbeddedRedis::on_output(process::Stream, std::string_view bytes) {
  lines_.feed(bytes, [this](std::string_view line, bool) {
    if (line.empty()) return;
    last_line_ = line;
    handler_.on_redis_log(last_line_);
  });
}

void EmbeddedRedis::on_ended(ProcessEnd process_end) {
  ended_ = true;
  if (state_ == State::stopping) {
    end();
    return;
  }
  if (state_ == State::up && loop_.now() - up_since_ >= options_.steady)
    pause_ = options_.min_pause;
  const std::string said = last_line_.empty() ? "" : ": " + last_line_;
  pause("redis-server ended, " + in_words(process_end) + said);
}

std::string default_embedded_directory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string state = variable("STATE_DIRECTORY"); !state.empty())
    return state.substr(0, state.find(':'));
  if (const std::string state = variable("XDG_STATE_HOME"); !state.empty()) return state + "/w8y";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/state/w8y";
  throw std::runtime_error(
      "--embedded needs a directory, since STATE_DIRECTORY and HOME are not set; write --embedded "
      "DIR");
}

}  // namespace w8y::ops
