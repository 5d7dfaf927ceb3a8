#include "core/outcome.hpp"

#include <algorithm>
#include <cstring>

namespace w8y {

namespace {

template <typename... Cases>
struct Visitor : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Visitor(Cases...) -> Visitor<Cases...>;

std::string signal_text(int number) {
  const std::string text = "signal " + std::to_string(number);
  const char* name = sigabbrev_np(number);
  return name == nullptr ? text : text + " (SIG" + name + ")";
}

}  // namespace

std::string end_text(const ProcessEnd& end) {
  return std::visit(
      Visitor{[](const Exited& exited) { return "exit " + std::to_string(exited.code); },
              [](const Signalled& signalled) {
                return signalled.why.empty() ? signal_text(signalled.signal) : signalled.why;
              },
              [](const NotStarted& problem) { return problem.reason; },
              [](const Answered&) { return std::string("answered"); },
              [](const Unanswered& unanswered) { return unanswered.reason; }},
      end);
}

/// Adds the times, and keeps the larger peak of memory.
ResourceUse& ResourceUse::operator+=(const ResourceUse& more) {
  if (more.cpu) cpu = cpu.value_or(Duration{0}) + *more.cpu;
  if (more.peak_memory) peak_memory = std::max(peak_memory.value_or(0), *more.peak_memory);
  return *this;
}

const char* outcome_name(const Outcome& outcome) {
  return std::visit(
      Visitor{[](const Succeeded&) { return "succeeded"; }, [](const Failed&) { return "failed"; },
              [](const Crashed&) { return "crashed"; }, [](const TimedOut&) { return "timed out"; },
              [](const Cancelled&) { return "cancelled"; }, [](const Lost&) { return "lost"; }},
      outcome);
}

std::string outcome_reason(const Outcome& outcome) {
  return std::visit(
      Visitor{[](const Succeeded&) { return std::string(); },
              [](const Failed& failed) { return failed.error; },
              [](const Crashed& crashed) { return crashed.reason; },
              [](const TimedOut& timed_out) {
                return std::string(timed_out.silent ? "no output for longer than progress_timeout"
                                                    : "ran for longer than timeout");
              },
              [](const Cancelled& cancelled) {
                if (cancelled.with_another)
                  return std::string("its process was stopped because of another run");
                return std::string(cancelled.by_operator ? "cancelled by an operator"
                                                         : "stopped, because w8yd shut down");
              },
              [](const Lost&) { return std::string("its lease was lost"); }},
      outcome);
}

}  // namespace w8y
