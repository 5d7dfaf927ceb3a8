#include <doctest/doctest.h>

#include "core/schedule_settings.hpp"
#include "source/schedule/disposition.hpp"

using namespace w8y;
using namespace w8y::source;
using namespace w8y::store;
using namespace std::chrono_literals;

namespace schedule_disposition_test {
namespace {

struct Ended {
  ListConfig rule;
  RunEnd end;
  std::optional<StopReason> stopped;
  unsigned attempt = 1;

  explicit Ended(OnFailure on_failure = OnFailure::die) {
    rule.source = ScheduleSettings{{"A"}, true, on_failure, {}};
    end.process = Exited{0};
  }
  [[nodiscard]] ScheduleDisposition disposed() const {
    EndedRun run;
    run.claim.attempt = attempt;
    run.rule = std::make_shared<const ListConfig>(rule);
    run.outcome = outcome_of(rule, end, stopped);
    run.end = end;
    return dispose_of_scheduled(run);
  }
  template <class Kind>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Kind>(disposed().what);
  }
};

}  // namespace

TEST_CASE("a job that succeeded follows its schedule, or the schedule key of its executor") {
  Ended run;
  CHECK(run.is<ActOnSchedule>());
  CHECK(run.disposed().failures == FailureCount::reset);
  run.end.complete = Complete{"{}", {}, {}, 30s, {}, {}};
  CHECK(std::get<ActOnSchedule>(run.disposed().what).backoff == 30s);
  run.end.complete->schedule = "STOP";
  CHECK(run.is<StopForGood>());
  run.end.complete->schedule = "UNSET";
  CHECK(run.is<UnsetJob>());
}

TEST_CASE("a job that failed follows on_failure") {
  Ended dies(OnFailure::die);
  dies.end.process = Exited{1};
  CHECK(dies.is<Die>());
  CHECK(dies.disposed().failures == FailureCount::increment);
  // The schedule key of the executor applies only to runs that succeeded.
  dies.end.complete = Complete{"{}", "no", {}, {}, "UNSET", {}};
  CHECK(dies.is<Die>());

  Ended goes_on(OnFailure::reschedule);
  goes_on.end.process = Exited{1};
  CHECK(goes_on.is<ActOnSchedule>());
  CHECK_FALSE(std::get<ActOnSchedule>(goes_on.disposed().what).backoff);
  // A job whose program is missing is not retried in a tight loop by CONTINUE.
  goes_on.end.process = NotStarted{"no such file"};
  CHECK(std::get<ActOnSchedule>(goes_on.disposed().what).backoff == 1s);

  Ended rests(OnFailure::backoff);
  rests.end.process = Exited{1};
  rests.attempt = 3;
  CHECK(std::get<BackOff>(rests.disposed().what).time == 4s);
  rests.end.complete = Complete{"{}", "no", {}, 9s, {}, {}};
  CHECK(std::get<BackOff>(rests.disposed().what).time == 9s);
  rests.end.complete->backoff = 1s;
  CHECK(std::get<BackOff>(rests.disposed().what).time == 4s);
  rests.rule.max_failures = 3;
  CHECK(rests.is<Die>());
  rests.rule.max_failures = 4;
  CHECK(rests.is<BackOff>());
}

TEST_CASE(
    "a job whose run did not fail by itself is queued again, or follows its schedule if "
    "cancelled") {
  for (const OnFailure on : {OnFailure::die, OnFailure::reschedule, OnFailure::backoff}) {
    Ended run(on);
    run.end.process = Signalled{15};
    run.stopped = StopReason::shutdown;
    CHECK(run.is<BackToQueue>());
    CHECK(run.disposed().failures == FailureCount::keep);
    run.stopped = StopReason::lease_lost;
    CHECK(run.is<BackToQueue>());  // its key has another holder, so nothing happens
    run.stopped = StopReason::cancelled;
    CHECK(run.is<ActOnSchedule>());
    run.stopped.reset();
    run.end.process = NotStarted{"too many processes", false, true};
    CHECK(run.is<BackToQueue>());
    run.end.process = Unanswered{"its process ended for another", true};
    CHECK(run.is<BackToQueue>());
    run.stopped = StopReason::timeout;
    run.end.process = Signalled{9};
    CHECK(run.disposed().failures == FailureCount::increment);
  }
}

}  // namespace schedule_disposition_test
