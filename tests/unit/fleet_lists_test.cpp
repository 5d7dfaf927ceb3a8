// Lists of the fleet: sums of list reports.
#include "view/fleet_lists.hpp"

#include <doctest/doctest.h>

#include "view/list_view.hpp"

using namespace w8y;

namespace fleet_lists_test {
namespace {

ListStatus list(ListState state, std::size_t running = 0, unsigned concurrency = 2) {
  ListStatus list;
  list.prefix = "work";
  list.state = state;
  list.running = running;
  list.concurrency = concurrency;
  return list;
}

}  // namespace

TEST_CASE("a list of the fleet has the runs of all hosts, and the slots of the serving hosts") {
  ListTotals totals;
  totals.add("web1", list(ListState::running, 2));
  totals.add("web2", list(ListState::full, 0, 4));
  ListStatus ineligible = list(ListState::ineligible, 1, 8);
  ineligible.why = "no GPU";
  totals.add("web3", ineligible);
  totals.finish(std::nullopt);
  CHECK(totals.state == ListState::running);
  CHECK(totals.hosts == 3);
  CHECK(totals.serving == 2);
  CHECK(totals.running == 3);
  CHECK(totals.slots == 6);
  CHECK(totals.why.empty());
}

TEST_CASE("fleet_concurrency limits the slots of the fleet") {
  ListTotals totals;
  for (const char* host : {"web1", "web2"}) {
    ListStatus one = list(ListState::idle, 0, 4);
    one.fleet_concurrency = 5;
    totals.add(host, one);
  }
  totals.finish(std::nullopt);
  CHECK(totals.slots == 5);
}

TEST_CASE("the sums of a list do not depend on the order of the hosts") {
  ListStatus one = list(ListState::ineligible);
  one.why = "no GPU";
  one.caps = {"a"};
  ListStatus other = list(ListState::ineligible);
  other.why = "no program";
  other.caps = {"b"};
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    ListTotals totals;
    if (swapped) totals.add("web2", other);
    totals.add("web1", one);
    if (!swapped) totals.add("web2", other);
    totals.finish(std::nullopt);
    CHECK(totals.why == "web1: no GPU");
    CHECK(totals.caps == std::vector<std::string>{"a"});
  }
}

TEST_CASE("a reason that all hosts share names no host") {
  ListTotals totals;
  ListStatus paused = list(ListState::paused);
  paused.why = "new disks";
  totals.add("web1", paused);
  totals.add("web2", paused);
  totals.finish(std::nullopt);
  CHECK(totals.why == "new disks");

  ListTotals failing;
  ListStatus open = list(ListState::breaker_open);
  open.why = "breaker open for 20s";
  failing.add("web1", open);
  open.why = "breaker open for 25s";
  failing.add("web2", open);
  failing.finish(std::nullopt);
  CHECK(failing.why == "breaker open for 25s");
}

TEST_CASE("an idle list is running if an item of its statistics is") {
  ListStatus idle = list(ListState::idle);
  idle.why = "no item is free";
  ListStats stats;
  stats.items = {{"running", 1}};
  ListTotals totals;
  totals.add("web1", idle);
  totals.finish(stats);
  CHECK(totals.state == ListState::running);
  CHECK(totals.why.empty());
  CHECK(totals.running == 1);
}

TEST_CASE("a pause holds on all hosts, also on hosts that have not reported it") {
  ListTotals totals;
  totals.add("web1", list(ListState::running, 2));
  ListStatus paused = list(ListState::paused);
  paused.pause = Pause{"new disks", "jo on web2", WallTime(1), WallTime(0)};
  paused.why = "new disks";
  totals.add("web2", paused);
  totals.finish(std::nullopt);
  CHECK(totals.state == ListState::paused);
  CHECK(totals.why == "new disks");
  CHECK(totals.running == 2);
}

TEST_CASE("the running items of the statistics replace the sum of the reports") {
  ListTotals totals;
  totals.add("web1", list(ListState::running, 2));
  totals.add("web2", list(ListState::running, 1));
  ListStats stats;
  stats.items = {{"length", 9}, {"free", 3}, {"running", 4}, {"delayed", 2}};
  totals.finish(stats);
  CHECK(totals.running == 4);
}

TEST_CASE("a list of the fleet is read from its JSON") {
  ListStatus own = list(ListState::idle);
  own.counters.succeeded = 7;
  own.quarantined = 3;
  ListTotals totals;
  totals.add("web1", own);
  totals.add("web2", list(ListState::running, 2));
  totals.finish(std::nullopt);
  const std::string text = view::to_json("work", totals, &own, view::api);
  const auto read = view::read_list_in_fleet(*view::JsonFields::parse(text), view::api);
  REQUIRE(read);
  CHECK(read->here);
  CHECK(read->totals.state == ListState::running);
  CHECK(read->totals.running == 2);
  CHECK(read->totals.slots == 4);
  CHECK(read->list.prefix == "work");
  CHECK(read->list.state == ListState::idle);
  CHECK(read->list.counters.succeeded == 7);
  CHECK(read->list.quarantined == 3);

  const std::string other = view::to_json("theirs", totals, nullptr, view::api);
  const auto theirs = view::read_list_in_fleet(*view::JsonFields::parse(other), view::api);
  REQUIRE(theirs);
  CHECK_FALSE(theirs->here);
  CHECK(theirs->list.prefix == "theirs");
  CHECK(theirs->totals.hosts == 2);
  CHECK_FALSE(view::read_list_in_fleet(*view::JsonFields::parse("{}"), view::api));
}

TEST_CASE("the slots of a fleet have no limit if one host has none") {
  HostStatus host;
  host.state = HostState::quiet;
  host.slots_limit = 4;
  host.slots_used = 1;
  FleetLists others;
  others.states = {{"running", 2}};
  others.slots_limit = 8;
  others.slots_used = 5;
  FleetSummary sum(host, others);
  CHECK(sum.slots_limit == 12);
  CHECK(sum.slots_used == 6);
  CHECK(sum.host_states == std::map<std::string, std::size_t>{{"quiet", 1}, {"running", 2}});
  ListTotals totals;
  totals.add("web1", list(ListState::running, 2));
  totals.finish(std::nullopt);
  sum.add(totals);
  sum.omitted = 1;
  const FleetSummary read = read_fleet_summary(*view::JsonFields::parse(to_json(sum)));
  CHECK(read.host_states == sum.host_states);
  CHECK(read.slots_limit == 12);
  CHECK(read.lists == 1);
  CHECK(read.running == 2);
  CHECK(read.states == sum.states);
  CHECK(read.omitted == 1);
  others.unlimited = true;
  CHECK(FleetSummary(host, others).slots_limit == 0);
}

}  // namespace fleet_lists_test
