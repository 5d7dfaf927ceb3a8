#include "process/captured_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/escape.hpp"
#include "core/fd.hpp"
#include "core/units.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

namespace {

using BriefClock = std::chrono::steady_clock;

std::atomic<int> brief_runs{0};

/// While it exists, unknown children do not count as orphan processes.
struct BriefRunNoted {
  BriefRunNoted() { ++brief_runs; }
  ~BriefRunNoted() { --brief_runs; }
  BriefRunNoted(const BriefRunNoted&) = delete;
  BriefRunNoted& operator=(const BriefRunNoted&) = delete;
};

constexpr std::size_t max_said = 300;
/// Time after the exit of the program during which other processes may still write to its outputs.
constexpr auto last_words_patience = std::chrono::milliseconds(200);

struct OutputOfBrief {
  Fd ours;
  Fd theirs;
  std::string text;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    ours = Fd(ends[0]);
    theirs = Fd(ends[1]);
    return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
  }
  /// Reads until the pipe is empty or closed.
  void read_some(std::size_t most) {
    std::array<char, 65536> bytes{};
    for (;;) {
      const ssize_t count = read(ours.get(), bytes.data(), bytes.size());
      if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
      if (count == 0) ours.reset();
      if (count <= 0 && (count == 0 || errno != EINTR)) return;
      if (text.size() > most) return;
    }
  }
};

/// Returns the last line that is not blank.
std::string last_line(std::string_view text) {
  const auto last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  const auto line = text.rfind('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  return ": " + escape(text.substr(0, max_said));
}

std::string end_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED)
    return info.si_status == 0 ? "" : "exits with status " + std::to_string(info.si_status);
  const char* name = sigabbrev_np(info.si_status);
  return "is killed by SIG" + std::string(name != nullptr ? name : "?");
}

/// Returns a descriptor that is readable while SIGTERM or SIGINT is pending. w8yd blocks both.
Fd pending_stop() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&ends, number);
  return Fd(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

class BriefRun {
 public:
  explicit BriefRun(const CaptureRequest& request)
      : request_(request), until_(BriefClock::now() + request.timeout) {}

  CaptureResult run() {
    if (std::string why = start(); !why.empty()) return {{}, why};
    const std::string cut_off = follow();
    kill(-child_.pid, SIGKILL);
    kill(child_.pid, SIGKILL);
    siginfo_t info{};
    while (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()), &info,
                  WEXITED) != 0 &&
           errno == EINTR) {
    }
    const std::string how = cut_off.empty() ? end_of(info) : cut_off;
    if (!how.empty()) return {{}, how + last_line(errors_.text)};
    return {std::move(output_.text), {}};
  }

 private:
  std::string start() {
    const Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing || !output_.open() || !errors_.open())
      return std::string("cannot be started: ") + std::strerror(errno);
    SpawnRequest spawn_request;
    spawn_request.program = request_.argv.front();
    spawn_request.argv = request_.argv;
    spawn_request.env = request_.env;
    spawn_request.cwd = "/";
    spawn_request.in = nothing.get();
    spawn_request.out = output_.theirs.get();
    spawn_request.err = errors_.theirs.get();
    if (const auto problem = spawn(spawn_request, child_))
      return "cannot be started: " + problem->text;
    pidfd_ = Fd(child_.pidfd);
    output_.theirs.reset();
    errors_.theirs.reset();
    return {};
  }

  /// Follows the program to its end. Returns why it was stopped before.
  std::string follow() {
    bool ended = false;
    while (!ended || output_.ours || errors_.ours) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - BriefClock::now());
      if (left.count() <= 0)
        return ended ? "" : "does not end within " + format_duration(request_.timeout);
      std::array<pollfd, 4> fds{{{output_.ours.get(), POLLIN, 0},
                                 {errors_.ours.get(), POLLIN, 0},
                                 {ended ? -1 : pidfd_.get(), POLLIN, 0},
                                 {stop_.get(), POLLIN, 0}}};
      poll(fds.data(), fds.size(), static_cast<int>(std::min<long long>(left.count(), 60'000)));
      if (fds[0].revents != 0) output_.read_some(request_.most);
      if (fds[1].revents != 0) errors_.read_some(request_.most);
      if (output_.text.size() > request_.most)
        return "prints more than " + std::to_string(request_.most >> 20U) + " MiB";
      if (errors_.text.size() > request_.most) errors_.text.erase(0, request_.most / 2);
      if (fds[3].revents != 0) return "is killed because w8yd ends";
      if (fds[2].revents == 0) continue;
      ended = true;
      until_ = std::min(until_, BriefClock::now() + last_words_patience);
    }
    return {};
  }

  const CaptureRequest& request_;
  BriefClock::time_point until_;
  OutputOfBrief output_;
  OutputOfBrief errors_;
  Spawned child_;
  Fd pidfd_;
  const Fd stop_ = pending_stop();
};

}  // namespace

CaptureResult run_and_capture(const CaptureRequest& request) {
  const BriefRunNoted noted;
  return BriefRun(request).run();
}

bool runs_briefly() {
  return brief_runs.load() > 0;
}

}  // namespace w8y::process
