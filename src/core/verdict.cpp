#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <w8y/verdict.hpp>

namespace w8y {

namespace {

/// The outcome of a process that ended by itself.
struct ByItself {
  const Rule& rule;
  const RunEnd& end;

  Outcome operator()(const Exited& exited) const {
    const auto& codes = rule.child->success_exit_codes;
    if (std::find(codes.begin(), codes.end(), exited.code) != codes.end())
      return (*this)(Answered{});
    std::string reason = "exit status " + std::to_string(exited.code);
    // An executor has a line to say so; a plain program has nothing but its exit status.
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

enum class Counts { success, failure, neither };

struct HowItCounts {
  Counts operator()(const Succeeded&) const { return Counts::success; }
  Counts operator()(const Failed&) const { return Counts::failure; }
  Counts operator()(const Crashed&) const { return Counts::failure; }
  Counts operator()(const TimedOut&) const { return Counts::failure; }
  Counts operator()(const Cancelled&) const { return Counts::neither; }
  Counts operator()(const Lost&) const { return Counts::neither; }
};

Rest rest_for(Duration time, bool after_failure) {
  if (time <= Duration{0}) return SetFree{};
  return RestFor{after_failure, time};
}

/// A program that can't even be started must not be tried in a tight loop, whatever the config says
/// (promise 6): without a backoff, an item that never ran rests this long. The one-item wrapper
/// leaves that to whoever runs it, and leaves no lock.
constexpr Duration least_rest_unstarted = std::chrono::seconds(1);

}  // namespace

Verdict judge(const Rule& rule, const RunEnd& end, std::optional<StopReason> stopped,
              unsigned attempt) {
  Verdict verdict;
  // A process that never ran was not ended by us either.
  const bool never_ran = std::holds_alternative<NotStarted>(end.process);
  verdict.outcome =
      stopped && !never_ran ? by_us(*stopped) : std::visit(ByItself{rule, end}, end.process);

  switch (std::visit(HowItCounts{}, verdict.outcome)) {
    case Counts::success: {
      const Duration given =
          end.complete && end.complete->cooldown ? *end.complete->cooldown : rule.cooldown;
      verdict.rest = rest_for(given, false);
      verdict.failures = FailureCount::reset;
      break;
    }
    case Counts::failure: {
      // What this host lacks is no failure of the item.
      const auto* unstarted = std::get_if<NotStarted>(&end.process);
      if (unstarted != nullptr && (unstarted->host_is_short || unstarted->host_lacks)) {
        verdict.rest = SetFree{};
        break;
      }
      verdict.failures = FailureCount::increment;
      if (rule.max_failures > 0 && attempt >= rule.max_failures) {
        verdict.rest = Quarantine{};
        break;
      }
      Duration rest = backoff_after(rule.backoff, attempt);
      // What the executor says can only lengthen it: else a failing item could spin.
      if (end.complete && end.complete->cooldown) rest = std::max(rest, *end.complete->cooldown);
      if (never_ran && rule.recorded) rest = std::max(rest, least_rest_unstarted);
      verdict.rest = rest_for(rest, true);
      break;
    }
    case Counts::neither:
      verdict.rest = SetFree{};
      break;
  }
  return verdict;
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
