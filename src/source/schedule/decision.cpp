#include "source/schedule/decision.hpp"

#include <algorithm>
#include <utility>

#include "schedule/schedule.hpp"

namespace w8y::source {

namespace {

/// Schedule of a job that was to run once.
constexpr const char* stopped = "STOP";

struct Decide {
  std::string_view text;
  store::UnixSeconds after;

  Decision operator()(const schedule::Stop&) const { return as_it_is(store::StopJob{}); }
  Decision operator()(const schedule::Continue&) const { return as_it_is(store::Enqueue{}); }
  Decision operator()(const schedule::Now&) const { return {stopped, store::Enqueue{}, {}}; }
  Decision operator()(const schedule::At& at) const { return {stopped, store::RunAt{at.time}, {}}; }
  Decision operator()(const schedule::Recurrence& rule) const {
    if (const auto next = rule.next_after(after)) return as_it_is(store::RunAt{*next});
    return as_it_is(store::StopJob{});
  }
  Decision operator()(const schedule::Bad& bad) const {
    return {std::string(text), store::BadJob{}, bad.why};
  }

 private:
  [[nodiscard]] Decision as_it_is(const store::SetEffect& effect) const {
    return {std::string(text), effect, {}};
  }
};

/// Returns whether the schedule has no DTSTART, so that it starts at the time for which it is
/// evaluated.
bool begins_then(std::string_view text) {
  static constexpr std::string_view word = "DTSTART";
  return std::search(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
         }) == text.end();
}

}  // namespace

Decision decide(std::string_view schedule, store::UnixSeconds now,
                std::optional<store::UnixSeconds> after) {
  return std::visit(Decide{schedule, after.value_or(now)}, schedule::parse_schedule(schedule, now));
}

store::ScheduleDecision decide_next(const std::optional<std::string>& schedule,
                                    store::UnixSeconds now,
                                    std::optional<std::chrono::seconds> backoff) {
  if (!schedule) return {.step = store::UnsetJob{}};
  const schedule::Schedule read = schedule::parse_schedule(*schedule, now);
  if (backoff && std::holds_alternative<schedule::Continue>(read))
    return {.step = store::RunIn{*backoff}};
  Decision decision = std::visit(Decide{*schedule, now}, read);
  store::ScheduleDecision next;
  next.step =
      std::visit([](const auto& effect) { return store::NextStep(effect); }, decision.effect);
  if (decision.schedule != *schedule) next.schedule = std::move(decision.schedule);
  next.begins_then = std::holds_alternative<schedule::Recurrence>(read) && begins_then(*schedule);
  next.why_bad = std::move(decision.why_bad);
  return next;
}

}  // namespace w8y::source
