#include "core/outcome.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>

using namespace w8y;

TEST_CASE("outcomes have the names used in the history") {
  CHECK(std::string(outcome_name(Succeeded{})) == "succeeded");
  CHECK(std::string(outcome_name(Failed{"x"})) == "failed");
  CHECK(std::string(outcome_name(Crashed{"x"})) == "crashed");
  CHECK(std::string(outcome_name(TimedOut{})) == "timed out");
  CHECK(std::string(outcome_name(Cancelled{})) == "cancelled");
  CHECK(std::string(outcome_name(Lost{})) == "lost");
}

TEST_CASE("an outcome has a reason if the run did not succeed") {
  CHECK(outcome_reason(Succeeded{}).empty());
  CHECK(outcome_reason(Failed{"no disk"}) == "no disk");
  CHECK(outcome_reason(Crashed{"exit 3"}) == "exit 3");
  CHECK(outcome_reason(TimedOut{}) == "ran for longer than timeout");
  CHECK(outcome_reason(TimedOut{true}) == "no output for longer than progress_timeout");
  CHECK(outcome_reason(Cancelled{true}) == "cancelled by an operator");
  CHECK(outcome_reason(Cancelled{}) == "stopped, because w8yd shut down");
  CHECK(outcome_reason(Lost{}) == "its lease was lost");
}

TEST_CASE("the end of a process has a text") {
  CHECK(end_text(Exited{3}) == "exit 3");
  CHECK(end_text(Signalled{SIGKILL}) == "signal 9 (SIGKILL)");
  CHECK(end_text(Signalled{SIGSEGV}) == "signal 11 (SIGSEGV)");
  CHECK(end_text(Signalled{60}) == "signal 60");
  CHECK(end_text(NotStarted{"cannot run /x: No such file or directory"}) ==
        "cannot run /x: No such file or directory");
}
