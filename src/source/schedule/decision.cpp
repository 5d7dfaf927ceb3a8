#include "source/schedule/decision.hpp"

#include "schedule/schedule.hpp"

namespace w8y::source {

namespace {

/// What is to be done once is stopped from then on.
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

}  // namespace

Decision decide(std::string_view schedule, store::UnixSeconds now,
                std::optional<store::UnixSeconds> after) {
  return std::visit(Decide{schedule, after.value_or(now)}, schedule::parse_schedule(schedule, now));
}

}  // namespace w8y::source
