#include "core/ended_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace w8y {

namespace {

/// Returns the outcome of a process that was not stopped by w8yd.
struct ByItself {
  const ListConfig& rule;
  const RunEnd& end;

  Outcome operator()(const Exited& exited) const {
    const auto& codes = rule.child->success_exit_codes;
    if (std::find(codes.begin(), codes.end(), exited.code) != codes.end())
      return (*this)(Answered{});
    std::string reason = "exit status " + std::to_string(exited.code);
    // An executor reports errors in a message; a plain command only has its exit status.
    if (rule.is_command()) return Failed{std::move(reason)};
    return Crashed{std::move(reason)};
  }
  Outcome operator()(const Answered&) const {
    if (end.complete && end.complete->error) return Failed{*end.complete->error};
    return Succeeded{};
  }
  Outcome operator()(const Unanswered& unanswered) const {
    if (unanswered.for_another) return Cancelled{false, true};
    return Crashed{unanswered.reason};
  }
  Outcome operator()(const Signalled& signalled) const {
    if (!signalled.why.empty()) return Crashed{signalled.why};
    const char* name = sigabbrev_np(signalled.signal);
    return Crashed{"signal " +
                   (name ? std::string("SIG") + name : std::to_string(signalled.signal))};
  }
  Outcome operator()(const NotStarted& not_started) const {
    if (not_started.item_at_fault) return Failed{not_started.reason};
    return Crashed{not_started.reason};
  }
};

Outcome by_us(StopReason reason) {
  switch (reason) {
    case StopReason::timeout:
      return TimedOut{false};
    case StopReason::progress_timeout:
      return TimedOut{true};
    case StopReason::shutdown:
      return Cancelled{false};
    case StopReason::cancelled:
      return Cancelled{true};
    case StopReason::lease_lost:
      return Lost{};
  }
  return Lost{};
}

struct HowItCounts {
  Counts operator()(const Succeeded&) const { return Counts::success; }
  Counts operator()(const Failed&) const { return Counts::failure; }
  Counts operator()(const Crashed&) const { return Counts::failure; }
  Counts operator()(const TimedOut&) const { return Counts::failure; }
  Counts operator()(const Cancelled&) const { return Counts::neither; }
  Counts operator()(const Lost&) const { return Counts::neither; }
};

}  // namespace

Outcome outcome_of(const ListConfig& rule, const RunEnd& end, std::optional<StopReason> stopped) {
  // A process that never started was not stopped by w8yd.
  const bool never_ran = std::holds_alternative<NotStarted>(end.process);
  return stopped && !never_ran ? by_us(*stopped) : std::visit(ByItself{rule, end}, end.process);
}

Counts counts_as(const EndedRun& run) {
  const NotStarted* why = run.never_began();
  if (why != nullptr && (why->host_is_short || why->host_lacks)) return Counts::neither;
  return std::visit(HowItCounts{}, run.outcome);
}

Duration backoff_after(const std::optional<Backoff>& backoff, unsigned failures) {
  if (!backoff) return Duration{0};
  const double grown = static_cast<double>(backoff->min.count()) *
                       std::pow(backoff->factor, static_cast<double>(std::max(failures, 1U) - 1));
  const auto most = static_cast<double>(backoff->max.count());
  if (!(grown < most)) return backoff->max;
  return Duration(static_cast<Duration::rep>(grown));
}

}  // namespace w8y
