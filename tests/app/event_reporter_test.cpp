// Event reporter of lists, with a supervisor on a fake host.
#include "core/event_reporter.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "allocations.hpp"
#include "app_support.hpp"
#include "core/supervisor.hpp"
#include "ops/event_log.hpp"
#include "view/fleet_logs.hpp"

using namespace w8y;
using namespace w8y::test;
using namespace std::chrono_literals;

namespace event_reporter_test {
namespace {

/// Keeps the names of events, with their list if they have one.
class Recorder final : public EventHandler {
 public:
  Lines told;
  bool wants_frequent = false;

  void on_event(const Event& event) override {
    const char* name = event_name(event);
    std::visit(
        [&](const auto& kind) {
          using Kind = std::decay_t<decltype(kind)>;
          std::string text = name != nullptr ? name : "-";
          if constexpr (std::is_same_v<Kind, RunEnded>)
            text += std::string(" ") + outcome_name(kind.outcome);
          if constexpr (std::is_same_v<Kind, ListChanged>)
            text += std::string(" ") + state_name(kind.state) + ' ' + std::string(kind.program);
          if constexpr (std::is_same_v<Kind, ShortageChanged>)
            text += kind.ended ? " over" : " " + std::string(kind.reason);
          if constexpr (std::is_same_v<Kind, ClaimsRefused>)
            text += kind.ended ? " taken" : " refused " + std::string(kind.reason);
          if constexpr (std::is_same_v<Kind, WritesRefused>)
            text += kind.ended ? " written" : " unwritten " + std::string(kind.reason);
          if constexpr (std::is_same_v<Kind, PollerGone>) text += " gone";
          if constexpr (std::is_same_v<Kind, ItemQuarantined>)
            text += " parked " + item_of(kind.item);
          told.push_back(std::move(text));
        },
        event);
  }
  [[nodiscard]] bool listens() const override { return wants_frequent; }
  Lines take() { return std::exchange(told, {}); }

 private:
  static std::string item_of(const ItemRef& item) { return std::string(item.beginning); }
};

struct Reported : World {
  Recorder recorder;
  EventReporter reporter{recorder};
  Supervisor supervisor{SupervisorHost{clock, timers, reporter, *this}};

  void apply(ListConfig rule) {
    auto config = std::make_shared<Config>();
    config->lists.emplace(rule.prefix, share(rule));
    supervisor.apply(std::move(config), false, [](const ReloadPlan&) {});
    settle_down();
  }
};

}  // namespace

TEST_CASE("a fan-out passes each event to all handlers, and listens if one of them does") {
  Recorder first;
  Recorder second;
  EventFanOut all;
  CHECK_FALSE(all.listens());
  all.add(first);
  all.add(second);
  CHECK_FALSE(all.listens());
  second.wants_frequent = true;
  CHECK(all.listens());
  all.on_event(HostReady{1, "abc"});
  CHECK(first.take() == Lines{"host"});
  CHECK(second.take() == Lines{"host"});
}

TEST_CASE("starts of runs are reported only to listening handlers, and ends to all") {
  Reported w;
  w.runs_take = 1s;
  w.redis.lists["work"] = {"a"};
  w.apply(rule_for("work"));
  CHECK(w.recorder.take() == Lines{"list idle /bin/work"});
  w.run_for(900ms);
  CHECK(w.recorder.take().empty());
  w.run_for(200ms);
  CHECK(w.recorder.take() == Lines{"end succeeded"});

  w.recorder.wants_frequent = true;
  w.run_for(60s);
  const Lines told = w.recorder.take();
  CHECK(count(told, "start") >= 1);
  CHECK(count(told, "end succeeded") >= 1);
}

TEST_CASE("reporting a successful run allocates no memory") {
  Time time;
  FakeLog log;
  ops::EventLog event_log(log, time.clock, time.timers);
  EventFanOut all;
  all.add(event_log);
  EventReporter reporter(all);
  TimerQueue timers;
  SlotPool places(time.clock, 0);
  const ListConfigPtr rule = share(rule_for("a list with a name that is long enough"));
  const Poller poller(PollerHost{time.clock, timers, places, reporter}, rule);
  ActiveRun run;
  run.claim.run = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  run.claim.item = "an item that is long enough";
  run.rule = rule;
  EndedRun ended;
  ended.claim = run.claim;
  ended.rule = rule;
  ended.outcome = Succeeded{};

  const std::size_t before = allocations();
  for (int i = 0; i < 1000; ++i) {
    reporter.run_started(poller, run);
    reporter.run_message(poller, run, Progress{1, 2});
    reporter.run_ended(poller, ended);
  }
  CHECK(allocations() == before);
  log.level = LogLevel::debug;
  reporter.run_ended(poller, ended);
  CHECK(allocations() > before);  // the counter works
}

TEST_CASE("lines of runs without followers cost no allocation") {
  LogFollowers followers;
  const RunLogged said{
      {"a list with a name that is long enough", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "item"},
      "a line that is too long for a short string, as most of them are",
      false};
  const Instant now{1h};
  const std::size_t before = allocations();
  for (int i = 0; i < 1000; ++i)
    if (!followers.none()) followers.on_output(said, now);
  CHECK(allocations() == before);
  FleetCommand order;
  order.listener = "x";
  followers.follow(order, now);
  const std::size_t followed = allocations();
  followers.on_output(said, now);
  CHECK(allocations() > followed);  // the counter works
}

TEST_CASE("a list is reported if the host is ineligible for it, or if its runs cannot start") {
  Reported w;
  w.fake_prober.replies["/bin/none"] = Ineligibility{"not found"};
  w.apply(rule_for("none"));
  CHECK(w.recorder.take() == Lines{"list ineligible /bin/none"});

  w.redis.lists["work"] = {"a"};
  w.apply(rule_for("work"));
  w.recorder.take();
  w.executors.back()->end_at(w.executors.back()->started.front().run, 0s,
                             NotStarted{"no processes", false, true});
  w.settle_down();
  const Lines told = w.recorder.take();
  CHECK(count(told, "list no processes") == 1);
}

TEST_CASE("refused run records are reported, unless Redis refuses all claims of the list") {
  Reported w;
  w.runs_take = 1s;
  w.redis.lists["work"] = {"a"};
  w.apply(rule_for("work", 2));
  w.run_for(500ms);
  w.redis.lists["work"].push_back("b");  // so that the runs end at different times
  w.run_for(20s);
  w.recorder.take();
  const auto told = [&](bool claims, bool records) {
    w.redis.no_claims = claims ? "" : "no";
    w.run_for(700ms);
    w.redis.no_records = records ? "" : "some";
    w.run_for(10s);
    Lines lines = w.recorder.take();
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("end "); });
    return lines;
  };
  CHECK(told(true, true).empty());
  CHECK(told(true, false) == Lines{"- unwritten some"});
  CHECK(told(true, true) == Lines{"- written"});
  // Run records are refused meanwhile as well. Those of later runs may be accepted.
  CHECK(told(false, false) == Lines{"- refused no"});
  CHECK(told(true, true) == Lines{"- taken"});
  // Refused run records of later runs are reported, whether or not they were before.
  CHECK(told(false, false) == Lines{"- refused no"});
  CHECK(told(true, false) == Lines{"- taken", "- unwritten some"});
  CHECK(told(false, false) == Lines{"- refused no"});
  CHECK(told(true, false) == Lines{"- taken", "- unwritten some"});
}

TEST_CASE("a quarantined item is reported, and so is the end of a poller") {
  Reported w;
  ListConfig rule = rule_for("work");
  rule.max_failures = 1;
  w.redis.lists["work"] = {"a"};
  w.apply(rule);
  w.recorder.take();
  w.executors.back()->end_at(w.executors.back()->started.front().run, 0s, Exited{1});
  w.settle_down();
  CHECK(count(w.recorder.take(), "- parked a") == 1);
  w.supervisor.drain([] {});
  w.run_for(1s);
  CHECK(count(w.recorder.take(), "- gone") == 1);
}

}  // namespace event_reporter_test
