#include "core/ended_run.hpp"

#include <doctest/doctest.h>

using namespace w8y;
using namespace std::chrono_literals;

namespace ended_run_test {
namespace {

std::string ended(const ListConfig& rule, ProcessEnd process,
                  std::optional<std::string> error = std::nullopt, bool complete = true,
                  std::optional<StopReason> stopped = std::nullopt) {
  RunEnd end;
  end.process = std::move(process);
  if (complete) end.complete = Complete{"{}", std::move(error), {}, {}, {}, {}};
  return outcome_name(outcome_of(rule, end, stopped));
}

}  // namespace

TEST_CASE("outcomes of runs match the table of w8y-executor(7)") {
  ListConfig rule;
  rule.child.edit().success_exit_codes = {0, 7};
  CHECK(ended(rule, Exited{0}) == "succeeded");
  CHECK(ended(rule, Exited{0}, {}, false) == "succeeded");
  CHECK(ended(rule, Exited{7}) == "succeeded");
  CHECK(ended(rule, Exited{0}, "no disk") == "failed");
  CHECK(ended(rule, Exited{1}) == "crashed");
  CHECK(ended(rule, Signalled{9}) == "crashed");
  const std::string why = "killed by the kernel: out of memory, limit 64MiB";
  CHECK(outcome_reason(outcome_of(rule, {Signalled{9, why}, {}, {}, 0}, {})) == why);
  CHECK(ended(rule, Exited{0}, {}, true, StopReason::timeout) == "timed out");
  CHECK(ended(rule, Signalled{15}, {}, true, StopReason::progress_timeout) == "timed out");
  CHECK(ended(rule, Exited{0}, {}, true, StopReason::shutdown) == "cancelled");
  CHECK(ended(rule, Exited{0}, {}, true, StopReason::cancelled) == "cancelled");
  CHECK(ended(rule, Signalled{9}, {}, true, StopReason::lease_lost) == "lost");
  CHECK(ended(rule, NotStarted{"no such file", false, false}) == "crashed");
  CHECK(ended(rule, NotStarted{"NUL in item", true, false}) == "failed");
}

TEST_CASE("a plain command fails by its exit status, and crashes by a signal") {
  ListConfig rule;
  rule.command = {"false"};
  CHECK(ended(rule, Exited{0}, {}, false) == "succeeded");
  CHECK(ended(rule, Signalled{9}, {}, false) == "crashed");
  CHECK(ended(rule, NotStarted{"no such file", false, false}, {}, false) == "crashed");
  RunEnd end;
  end.process = Exited{1};
  const Outcome outcome = outcome_of(rule, end, {});
  CHECK(std::string(outcome_name(outcome)) == "failed");
  CHECK(outcome_reason(outcome) == "exit status 1");
}

TEST_CASE("outcomes of runs of a stream process follow from replies and its end") {
  ListConfig rule;
  rule.child.edit().success_exit_codes = {7};  // a stream process has no exit code per run
  CHECK(ended(rule, Answered{}) == "succeeded");
  CHECK(ended(rule, Answered{}, "no disk") == "failed");
  CHECK(ended(rule, Answered{}, {}, true, StopReason::timeout) == "timed out");
  CHECK(ended(rule, Unanswered{"exit 0"}, {}, false) == "crashed");
  CHECK(ended(rule, Unanswered{"exit 0"}, {}, false, StopReason::cancelled) == "cancelled");
  CHECK(ended(rule, Unanswered{"exit 0", true}, {}, false) == "cancelled");
  CHECK(ended(rule, Unanswered{"exit 0", true}, {}, false, StopReason::lease_lost) == "lost");

  RunEnd end;
  end.process = Unanswered{"signal 9 (SIGKILL)", true};
  CHECK(outcome_reason(outcome_of(rule, end, {})) ==
        "its process was stopped because of another run");
  end.process = Unanswered{"its process ended: exit 3"};
  CHECK(outcome_reason(outcome_of(rule, end, {})) == "its process ended: exit 3");
}

TEST_CASE("successes and failures count for an item; cancelled and lost runs do not") {
  EndedRun run;
  run.end.process = Exited{0};
  CHECK(counts_as(run) == Counts::success);
  for (const Outcome& outcome :
       {Outcome(Failed{"no"}), Outcome(Crashed{"SIGSEGV"}), Outcome(TimedOut{})}) {
    run.outcome = outcome;
    CHECK(counts_as(run) == Counts::failure);
  }
  for (const Outcome& outcome : {Outcome(Cancelled{}), Outcome(Lost{})}) {
    run.outcome = outcome;
    CHECK(counts_as(run) == Counts::neither);
  }
  // A shortage of the host does not count as a failure of the item. An item that cannot be passed
  // as an argument does.
  run.outcome = Crashed{"no more processes"};
  run.end.process = NotStarted{"no more processes", false, true};
  CHECK(counts_as(run) == Counts::neither);
  run.end.process = NotStarted{"no such user", false, false, true};
  CHECK(counts_as(run) == Counts::neither);
  run.end.process = NotStarted{"NUL in item", true};
  CHECK(counts_as(run) == Counts::failure);
}

TEST_CASE("the backoff grows to its maximum and stays there") {
  const Backoff backoff{1s, 5min, 2.0};
  CHECK(backoff_after(backoff, 1) == 1s);
  CHECK(backoff_after(backoff, 4) == 8s);
  CHECK(backoff_after(backoff, 10) == 5min);
  CHECK(backoff_after(backoff, 4000000000U) == 5min);
  CHECK(backoff_after(std::nullopt, 3) == 0s);
}

}  // namespace ended_run_test
