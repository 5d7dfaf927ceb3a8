// How a run ended. `RunEnd` is what the executor saw; `Outcome` is what that means
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
  /// 512MiB"; empty: not known.
  std::string why = {};
};
/// The process never ran: no such file, no more processes, an item that can't be an argument.
struct NotStarted {
  std::string reason;
  bool item_at_fault = false;  ///< the item itself can't be run: that is a failure, not a crash
  bool host_is_short = false;  ///< of processes, descriptors, memory, disk: it will pass
  /// The program, or what the list names besides (a folder, a file, an account, a limit), is not to
  /// be had here: another host may have it.
  bool host_lacks = false;
};
/// A `stream` process has answered for the run, and goes on.
struct Answered {};
/// A `stream` process ended, or had to be ended, without an answer for the run.
struct Unanswered {
  std::string reason;
  bool for_another = false;  ///< ended for another run's sake: no failure of this one
  bool untaken = false;      ///< it waited for a process when it was ended
};
using ProcessEnd = std::variant<Exited, Signalled, NotStarted, Answered, Unanswered>;
/// "exit 3", "signal 9 (SIGKILL)", "answered", or why it never ran or was not answered for.
std::string end_text(const ProcessEnd& end);

/// What processes used, from their start to their end.
struct ResourceUse {
  std::optional<Duration> cpu = {};               ///< time on all processors together
  std::optional<std::uint64_t> peak_memory = {};  ///< bytes

  ResourceUse& operator+=(const ResourceUse& more);
};

/// Everything an executor can tell about a run that is over.
struct RunEnd {
  ProcessEnd process;
  std::optional<Complete> complete;  ///< the first `complete` line, if any
  std::string stderr_tail;           ///< at most `stderr_tail` bytes, the last ones
  std::size_t bad_lines = 0;         ///< lines of output that were no message
  ResourceUse used = {};             ///< not of a run by a `stream` process, which has others, too
};

/// Why we ended a run that would have gone on.
enum class StopReason { timeout, progress_timeout, shutdown, cancelled, lease_lost };

struct Succeeded {};
struct Failed {
  std::string error;
};
struct Crashed {
  std::string reason;
};
struct TimedOut {
  bool silent = false;  ///< by `progress_timeout`, not by `timeout`
};
struct Cancelled {
  bool by_operator = false;   ///< else: shutdown past `drain_timeout`
  bool with_another = false;  ///< else: its process was ended for the sake of another run
};
struct Lost {};
using Outcome = std::variant<Succeeded, Failed, Crashed, TimedOut, Cancelled, Lost>;

/// "succeeded", "failed", "crashed", "timed out", "cancelled", "lost": as history shows it.
const char* outcome_name(const Outcome& outcome);
/// One line for people: what went wrong, empty when nothing did.
std::string outcome_reason(const Outcome& outcome);

}  // namespace w8y
