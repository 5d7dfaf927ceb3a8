#include "source/circular/disposition.hpp"

#include <doctest/doctest.h>

#include "core/circular_settings.hpp"

using namespace w8y;
using namespace w8y::source;
using namespace w8y::store;
using namespace std::chrono_literals;

namespace disposition_test {
namespace {

Disposition dispose(const ListConfig& rule, const RunEnd& end, unsigned attempt,
                    std::optional<StopReason> stopped = std::nullopt) {
  EndedRun run;
  run.claim.attempt = attempt;
  run.rule = std::make_shared<const ListConfig>(rule);
  run.outcome = outcome_of(rule, end, stopped);
  run.end = end;
  return dispose_of(run);
}

}  // namespace

TEST_CASE("the disposition of an item follows from the end of its run and its list config") {
  ListConfig rule;
  rule.circular().cooldown = 10min;
  RunEnd end;
  end.process = Exited{0};
  CHECK(std::get<RestFor>(dispose(rule, end, 1).rest).time == 10min);
  CHECK(dispose(rule, end, 1).failures == FailureCount::reset);

  end.complete = Complete{"{}", {}, 5s, {}, {}, {}};
  CHECK(std::get<RestFor>(dispose(rule, end, 1).rest).time == 5s);
  end.complete = Complete{"{}", {}, 0s, {}, {}, {}};
  CHECK(std::holds_alternative<SetFree>(dispose(rule, end, 1).rest));

  end.complete.reset();
  end.process = Exited{1};
  const Disposition third = dispose(rule, end, 3);
  CHECK(third.failures == FailureCount::increment);
  CHECK(std::get<RestFor>(third.rest).time == 4s);
  CHECK(std::get<RestFor>(third.rest).after_failure);

  // The cooldown of the executor can only lengthen the backoff.
  end.process = Exited{0};
  end.complete = Complete{"{}", "no", 0s, {}, {}, {}};
  CHECK(std::get<RestFor>(dispose(rule, end, 3).rest).time == 4s);
  end.complete->cooldown = 1h;
  CHECK(std::get<RestFor>(dispose(rule, end, 3).rest).time == 1h);
  CHECK(std::get<RestFor>(dispose(rule, end, 3).rest).after_failure);
  end.complete.reset();
  end.process = Exited{1};

  rule.max_failures = 3;
  CHECK(std::get<Quarantine>(dispose(rule, end, 3).rest).instead == 4s);
  CHECK(std::holds_alternative<RestFor>(dispose(rule, end, 2).rest));

  // A cancelled or lost run does not count, and the item is free at once.
  const Disposition cancelled = dispose(rule, end, 3, StopReason::cancelled);
  CHECK(cancelled.failures == FailureCount::keep);
  CHECK(std::holds_alternative<SetFree>(cancelled.rest));
}

TEST_CASE("an item whose run could not start is delayed, even if the list has no backoff") {
  ListConfig rule;
  rule.backoff.reset();
  RunEnd end;
  end.process = NotStarted{"no such file", false, false};
  CHECK(std::get<RestFor>(dispose(rule, end, 1).rest).time == 1s);
  end.process = Exited{1};
  CHECK(std::holds_alternative<SetFree>(dispose(rule, end, 1).rest));
}

}  // namespace disposition_test
