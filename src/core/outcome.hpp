// How a run ended. `RunEnd` is the data from the executor; `Outcome` is its meaning
// (w8y-executor(7), HOW A RUN ENDED).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/clock.hpp"
#include "core/message.hpp"

namespace w8y {

struct Exited {
  int code = 0;
};
struct Signalled {
  int signal = 0;
  /// Reason for the signal, if the kernel reports one: "killed by the kernel: out of memory, limit
  /// 512MiB"; empty = not known.
  std::string why = {};
};
/// The process never started: no such file, no more processes, an item that cannot be an argument.
struct NotStarted {
  std::string reason;
  bool item_at_fault = false;  ///< the item itself cannot be run: a failure, not a crash
  bool host_is_short = false;  ///< of processes, descriptors, memory or disk: temporary
  /// The program or another prerequisite of the list (a directory, a file, an account, a limit) is
  /// missing on this host. Another host may have it.
  bool host_lacks = false;
};
/// A `stream` process has replied for the run, and continues.
struct Answered {};
/// A `stream` process ended, or was stopped, without a reply for the run.
struct Unanswered {
  std::string reason;
  bool for_another = false;  ///< stopped because of another run: not a failure of this run
  bool untaken = false;      ///< the run still waited for a process when it was stopped
};
using ProcessEnd = std::variant<Exited, Signalled, NotStarted, Answered, Unanswered>;
/// Returns "exit 3", "signal 9 (SIGKILL)", "answered", or why the run never started or got no
/// reply.
std::string end_text(const ProcessEnd& end);

/// Resources that processes used, from start to end.
struct ResourceUse {
  std::optional<Duration> cpu = {};               ///< time on all processors together
  std::optional<std::uint64_t> peak_memory = {};  ///< bytes

  ResourceUse& operator+=(const ResourceUse& more);
};

/// Everything that an executor reports about an ended run.
struct RunEnd {
  ProcessEnd process;
  std::optional<Complete> complete;  ///< the first `complete` line
  std::string stderr_tail;           ///< end of its log output, at most `stderr_tail` bytes
  std::size_t bad_lines = 0;         ///< lines of output that were not valid messages
  ResourceUse used = {};  ///< not set for a run of a `stream` process, which has other runs as well
};

/// Why w8yd stopped a run.
enum class StopReason { timeout, progress_timeout, shutdown, cancelled, lease_lost };

struct Succeeded {};
struct Failed {
  std::string error;
};
struct Crashed {
  std::string reason;
};
struct TimedOut {
  bool silent = false;  ///< true = `progress_timeout`, false = `timeout`
};
struct Cancelled {
  bool by_operator = false;   ///< false = shutdown past `drain_timeout`
  bool with_another = false;  ///< the process was stopped to stop another run
};
struct Lost {};
using Outcome = std::variant<Succeeded, Failed, Crashed, TimedOut, Cancelled, Lost>;

/// Returns "succeeded", "failed", "crashed", "timed out", "cancelled" or "lost", as in the history.
const char* outcome_name(const Outcome& outcome);
/// Returns the error on one line for people; empty if the run succeeded.
std::string outcome_reason(const Outcome& outcome);

}  // namespace w8y
