#include "ops/event_log.hpp"

#include <doctest/doctest.h>

#include <string>

#include "app_support.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace event_log_test {
namespace {

struct Fixture : Time {
  FakeLog log;
  ops::EventLog events{log, clock, timers};

  void tell(const Event& event) { events.on_event(event); }
  void end(const Outcome& outcome, const char* list = "work", const char* run = "01") {
    tell(RunEnded{{list, run, "a"}, outcome, 1500ms, 2, 0});
  }
  /// Returns the lines logged after the coalescing time.
  Lines later() {
    pass(EventCoalescer::longest);
    return log.drain();
  }
};

const void* id(int number) {
  static const char ids[8] = {};
  return &ids[number];
}

}  // namespace

TEST_CASE("runs: a start, progress and success are logged at level debug") {
  Fixture f;
  const RunRef of{"work", "01", "a b"};
  const auto report_all = [&] {
    f.tell(RunStarted{of, 7, 2, 5});
    f.tell(RunProgressed{of, {1, 4}});
    f.tell(RunUpdated{of, "{}"});
    f.end(Succeeded{});
  };
  CHECK_FALSE(f.events.listens());
  report_all();
  CHECK(f.log.drain().empty());

  f.log.level = LogLevel::debug;
  CHECK(f.events.listens());
  report_all();
  CHECK(f.log.drain() ==
        Lines{"debug run started list=work item=\"a b\" run=01 pid=7 attempt=2",
              "debug progress list=work item=\"a b\" run=01 numerator=1 denominator=4",
              "debug run ended list=work item=a run=01 outcome=succeeded duration_ms=1500"});
}

TEST_CASE("runs: a failure is logged as a warning with its reason") {
  Fixture f;
  f.end(Failed{"no space"});
  CHECK(f.log.drain() == Lines{"warn run ended list=work item=a run=01 outcome=failed reason=\"no "
                               "space\" attempt=2 duration_ms=1500"});
}

TEST_CASE("runs: cancels, quarantined items and abandoned settlements are logged") {
  Fixture f;
  f.tell(RunCancelled{"01"});
  f.tell(ItemQuarantined{"work", "a", "failed 3 times"});
  f.tell(SettlementAbandoned{"work", "01", "too large"});
  CHECK(f.log.drain() == Lines{"info run cancelled by operator run=01",
                               "error item quarantined: failed 3 times list=work item=a",
                               "error settlement abandoned list=work run=01 reason=\"too "
                               "large\""});
}

TEST_CASE(
    "commands: a flood that changes the host back and forth is logged in a limited number of "
    "lines") {
  Fixture f;
  for (int i = 0; i < 5000; ++i) {
    f.tell(HostChanged{HostState::quiet, {}, 0});
    f.tell(HostChanged{HostState::running, {}, 0});
    f.tell(RunCancelled{"01"});
  }
  CHECK(f.log.drain().size() == 300);
  f.pass(2s);
  f.tell(HostChanged{HostState::quiet, {}, 0});
  CHECK(f.log.drain() == Lines{"warn command log rate-limited command=quiet dropped_lines=4900",
                               "info host is quiet: starting no new runs"});
}

TEST_CASE("lists: maintenance errors are coalesced, and their end is logged") {
  Fixture f;
  f.tell(MaintenanceChanged{"mix", false, "the key mix-timeline is a string"});
  CHECK(f.later() == Lines{"warn maintenance failed list=mix reason=\"the key mix-timeline "
                           "is a string\""});
  for (const char* list : {"a", "b"}) f.tell(MaintenanceChanged{list, false, "no right"});
  CHECK(f.later() == Lines{"warn maintenance failed lists=\"a, b\" reason=\"no right\""});
  f.tell(MaintenanceChanged{"mix", true, {}});
  CHECK(f.log.drain() == Lines{"info maintenance working again list=mix"});
}

TEST_CASE("runs: the first three invalid lines are logged, and the others are counted") {
  Fixture f;
  const RunRef of{"work", "01", "a"};
  for (std::size_t number = 1; number <= 5; ++number) f.tell(RunLineIgnored{of, "no JSON", number});
  CHECK(f.log.count("invalid protocol line ignored") == 3);
  f.log.drain();
  f.tell(RunEnded{of, Succeeded{}, 0ms, 1, 5});
  CHECK(f.log.drain() == Lines{"warn invalid protocol lines ignored "
                               "list=work run=01 lines=5"});
  f.tell(RunEnded{of, Succeeded{}, 0ms, 1, 3});
  CHECK(f.log.drain().empty());
}

TEST_CASE(
    "runs: child output is rate-limited, and the dropped lines are logged at the end of the run") {
  Fixture f;
  const RunRef of{"work", "01", "a"};
  const std::size_t said = LineLimit::at_once + 500;
  for (std::size_t i = 0; i < said; ++i) f.tell(RunLogged{of, "hello", false});
  const std::size_t admitted = f.log.count("child output");
  CHECK(admitted == LineLimit::at_once);
  // Another run has a limit of its own.
  f.tell(RunLogged{{"work", "02", "b"}, "hello", true});
  f.log.lines.erase(f.log.lines.begin(), f.log.lines.end() - 2);
  CHECK(f.log.drain() == Lines{"info child output list=work item=b run=02 out=\"hello\"",
                               "warn child output truncated to max_line list=work "
                               "run=02"});
  f.end(Succeeded{});
  CHECK(f.log.drain() == Lines{"warn child output rate-limited list=work run=01 dropped_lines=" +
                               std::to_string(said - admitted)});
  f.end(Succeeded{});
  CHECK(f.log.drain().empty());
}

TEST_CASE("runs: output below the log level does not count as dropped") {
  Fixture f;
  f.log.level = LogLevel::warn;
  for (std::size_t i = 0; i < LineLimit::at_once + 500; ++i)
    f.tell(RunLogged{{"work", "01", "a"}, "hello", false});
  f.end(Succeeded{});
  CHECK(f.log.drain().empty());
}

TEST_CASE("stream processes: output, invalid lines and unexpected exits are logged") {
  Fixture f;
  const auto tell = [&f](const ProcessEvent& news) { f.tell(StreamProcessEvent{"s", 9, news}); };
  tell(ProcessStarted{});
  tell(ProcessLine{"hello", false});
  for (std::size_t number = 1; number <= 4; ++number) tell(ProcessBadLine{"no id", number});
  tell(ProcessEnded{"exit 1", true, 4});
  CHECK(f.log.drain() ==
        Lines{"info child output list=s pid=9 out=\"hello\"",
              "warn invalid protocol line ignored list=s pid=9 reason=\"no id\"",
              "warn invalid protocol line ignored list=s pid=9 reason=\"no id\"",
              "warn invalid protocol line ignored list=s pid=9 reason=\"no id\"",
              "warn stream process exited unexpectedly list=s pid=9 reason=\"exit 1\"",
              "warn invalid protocol lines ignored list=s pid=9 lines=4"});
  tell(ProcessEnded{"exit 0", false, 0});
  CHECK(f.log.drain().empty());  // the exit was requested
}

TEST_CASE("coalesced: lost leases of many runs are one line, and so are the ends of the runs") {
  Fixture f;
  for (const char* list : {"a", "b", "c", "d"}) {
    f.tell(LeaseChanged{{list, "01", "x"}, false, true});
    f.end(Lost{}, list);
  }
  CHECK(f.log.drain().empty());
  CHECK(f.later() ==
        Lines{"warn leases lost, runs killed (on_lease_loss) lists=\"a, b, c and 1 more\" runs=4",
              "warn runs ended lists=\"a, b, c and 1 more\" runs=4 outcome=lost"});
}

TEST_CASE("coalesced: a single event is logged with its item") {
  Fixture f;
  const Item item = "an item";
  {
    const std::string gone = "work";  // destroyed before the event is logged
    f.tell(LeaseChanged{{gone, std::string("01"), item}, false, false});
  }
  CHECK(f.later() == Lines{"warn lease lost, run continues list=work item=\"an item\" run=01"});
  f.tell(LeaseChanged{{"work", "01", item}, true, false});
  CHECK(f.later() == Lines{"warn lease regained list=work item=\"an item\" run=01"});
  f.end(Lost{});
  CHECK(f.later().front().starts_with("warn run ended list=work item=a run=01 outcome=lost"));
}

TEST_CASE("lists: served and ineligible lists are logged by reason") {
  Fixture f;
  f.tell(ListChanged{"a", ListState::idle, {}, "/bin/p", false});
  f.tell(ListChanged{"b", ListState::idle, {}, "/bin/q", false});
  f.tell(ListChanged{"c", ListState::ineligible, "not found", "/bin/p", false});
  f.tell(ListChanged{"d", ListState::ineligible, "not found", "/bin/q", false});
  f.tell(ListChanged{"e", ListState::ineligible, "no user x", "/bin/p", true});
  f.tell(ListChanged{"f", ListState::ineligible, "no user x", "/bin/q", true});
  CHECK(f.later() ==
        Lines{"info lists served lists=\"a, b\"",
              "info host ineligible for list list=c program=/bin/p reason=\"not found\"",
              "info host ineligible for list list=d program=/bin/q reason=\"not found\"",
              "info host ineligible for lists lists=\"e, f\" reason=\"no user x\""});
}

TEST_CASE("lists: a shortage is logged when it starts, and when its last list has recovered") {
  Fixture f;
  f.tell(ShortageChanged{{"a", id(1)}, false, "no processes", 0, {}});
  f.tell(ShortageChanged{{"b", id(2)}, false, "no processes", 0, {}});
  CHECK(f.later() == Lines{"warn cannot start runs, lists waiting "
                           "lists=\"a, b\" reason=\"no processes\""});
  f.tell(ShortageChanged{{"a", id(1)}, true, {}, 3, 2s});
  CHECK(f.later().empty());
  f.tell(ShortageChanged{{"b", id(2)}, true, {}, 4, 5s});
  CHECK(f.later() == Lines{"info starting runs again lists=\"a, b\" not_started=7 "
                           "duration_ms=5000"});
}

TEST_CASE("lists: an open breaker is logged with its reason, and its end") {
  Fixture f;
  f.tell(BreakerChanged{{"feeds", id(1)}, false, "19 of 20 runs failed: HTTP 503"});
  CHECK(f.later() ==
        Lines{"error breaker open list=feeds reason=\"19 of 20 runs failed: HTTP 503\""});
  f.tell(BreakerChanged{{"feeds", id(1)}, true, {}});
  CHECK(f.later() == Lines{"info breaker closed list=feeds"});
}

TEST_CASE("lists: refused claims hide refused run records of the same list") {
  Fixture f;
  f.tell(WritesRefused{{"a", id(1)}, false, "no history"});
  f.tell(ClaimsRefused{{"a", id(1)}, false, "WRONGTYPE"});
  CHECK(f.later() == Lines{"error claims refused by Redis, retrying list=a reason=WRONGTYPE"});
  f.tell(ClaimsRefused{{"a", id(1)}, true, {}});
  CHECK(f.later() == Lines{"info claims accepted by Redis again list=a"});
  f.tell(WritesRefused{{"a", id(1)}, false, "no history"});
  CHECK(f.later() == Lines{"error run records refused by Redis list=a reason=\"no "
                           "history\""});
  f.tell(WritesRefused{{"a", id(1)}, true, {}});
  CHECK(f.later() == Lines{"info run records accepted again list=a"});
}

TEST_CASE("lists: the errors of a removed poller end without a log line") {
  Fixture f;
  f.tell(ClaimsRefused{{"a", id(1)}, false, "WRONGTYPE"});
  f.later();
  f.tell(PollerGone{{"a", id(1)}});
  f.tell(ClaimsRefused{{"a", id(1)}, true, {}});
  CHECK(f.later().empty());
}

TEST_CASE("host: its states and repeated drain commands are logged") {
  Fixture f;
  f.tell(HostReady{3, "abc"});
  f.tell(HostChanged{HostState::quiet, {}, 0});
  f.tell(HostChanged{HostState::running, {}, 0});
  f.end(Lost{});  // logged before later events
  f.tell(HostChanged{HostState::draining, "SIGTERM", 2});
  f.tell(RunsSignalled{false, "SIGTERM again", 2});
  f.tell(RunsSignalled{true, "SIGTERM once more", 1});
  const Lines lines = f.log.drain();
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "info ready lists=3 config=abc");
  CHECK(lines[1] == "info host is quiet: starting no new runs");
  CHECK(lines[2] == "info host resumed");
  CHECK(lines[3].starts_with("warn run ended"));
  CHECK(lines[4] == "info draining reason=SIGTERM running=2");
  CHECK(lines[5] ==
        "warn sent SIGTERM to all runs, SIGKILL after kill_grace "
        "reason=\"SIGTERM again\" running=2");
  CHECK(lines[6] == "warn sent SIGKILL to all runs reason=\"SIGTERM once more\" running=1");
}

TEST_CASE("host: reloads are logged") {
  Fixture f;
  const Lines changes{"lists.a: added", "lists.b: removed"};
  const Lines errors{"w8y.toml:1:1: what is wrong"};
  f.tell(ReloadStarted{"/etc/w8y.toml"});
  f.tell(Reloaded{true, 2, "2 changes", &changes, "abc"});
  f.tell(Reloaded{false, 2, "the config has errors", &errors, {}});
  f.tell(ReloadNotStarted{"this host is draining"});
  CHECK(f.log.drain() == Lines{"info reloading file=/etc/w8y.toml", "info lists.a: added",
                               "info lists.b: removed",
                               "info reloaded result=\"2 changes\" generation=2 config=abc",
                               "error w8y.toml:1:1: what is wrong",
                               "error reload failed reason=\"the config has errors\"",
                               "warn reload not started reason=\"this host is draining\""});
}

TEST_CASE("host: outages of Redis are logged") {
  Fixture f;
  f.tell(RedisChanged{true, {}, "unix:///r", true, {}});
  f.tell(RedisChanged{false, "gone", "unix:///r", false, {}});
  f.tell(RedisChanged{true, {}, "unix:///r", false, 2500ms});
  CHECK(f.log.drain() == Lines{"info connected to Redis redis=unix:///r",
                               "error Redis unavailable, retrying redis=unix:///r reason=gone",
                               "info Redis available again redis=unix:///r duration_ms=2500"});
  for (std::size_t i = 0; i < 3; ++i)
    f.tell(SettlementsAbandoned{"unix:///r", i == 0 ? "a" : "b", 2});
  CHECK(f.later() ==
        Lines{"warn settlements abandoned: Redis removed from the config redis=unix:///r "
              "lists=\"a, b\" runs=6"});
}

TEST_CASE("events that wait for coalescing are logged at the end") {
  Fixture f;
  {
    ops::EventLog events(f.log, f.clock, f.timers);
    events.on_event(ListChanged{"a", ListState::idle, {}, "/bin/p", false});
    CHECK(f.log.lines.empty());
  }
  CHECK(f.log.drain() == Lines{"info list served list=a program=/bin/p"});
}

}  // namespace event_log_test
