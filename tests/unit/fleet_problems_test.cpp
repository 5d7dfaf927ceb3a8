#include "view/fleet_problems.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace w8y;
using namespace std::chrono_literals;

namespace fleet_problems_test {
namespace {

constexpr WallTime now = 10h;

FleetHost host_of(const std::string& name) {
  FleetHost host;
  host.heartbeat.host = name;
  host.heartbeat.state = "running";
  host.last_heartbeat = now;
  return host;
}

ListStatus list_of(const std::string& prefix, ListState state, const std::string& why = {}) {
  ListStatus list;
  list.prefix = prefix;
  list.state = state;
  list.why = why;
  return list;
}

std::vector<std::string> texts_of(const std::vector<FleetHost>& hosts) {
  FleetProblems problems(now);
  for (const FleetHost& host : hosts) problems.add(host);
  std::vector<std::string> texts;
  for (const Problem& problem : problems.drain())
    texts.push_back(std::string(kind_name(problem.kind)) + "|" + problem.host + "|" + problem.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a fleet whose hosts run has no problems") {
  FleetHost host = host_of("web1");
  host.heartbeat.clock_offset = FleetProblems::max_clock_offset;
  host.lists = {list_of("feeds", ListState::idle), list_of("off", ListState::disabled)};
  CHECK(texts_of({host, host_of("web2")}).empty());
}

TEST_CASE("a host that is quiet, draining or short of resources is a problem") {
  FleetHost quiet = host_of("web1");
  quiet.heartbeat.state = "quiet";
  FleetHost draining = host_of("web2");
  draining.heartbeat.state = "draining";
  FleetHost starved = host_of("web3");
  starved.lists = {list_of("a", ListState::starved, "no more processes"),
                   list_of("b", ListState::starved, "no more processes")};
  CHECK(
      texts_of({quiet, draining, starved}) ==
      Texts{"starved|web3|web3: short of resources for a and b: no more processes",
            "quiet|web1|web1: quiet, starting no new runs; to end that: w8yctl resume --host web1",
            "draining|web2|web2: draining, starting no new runs, exiting after the active ones"});
}

TEST_CASE("a host that has died is a problem with the command that removes it") {
  FleetHost host = host_of("web2");
  host.unresponsive = true;
  host.last_heartbeat = now - 3min;
  CHECK(texts_of({host}) ==
        Texts{"unresponsive|web2|host web2 has been unresponsive for 3m; start it again, or remove "
              "it: w8yctl fleet forget web2"});
}

TEST_CASE("a failed reload, an outdated config and a wrong clock are problems of their host") {
  FleetHost reload = host_of("web1");
  reload.heartbeat.reload_failed = now - 12s;
  reload.heartbeat.reload_error = "feeds.concurrency: must be a number";
  reload.config_outdated = true;  // the failed reload is the cause
  FleetHost outdated = host_of("web2");
  outdated.config_outdated = true;
  outdated.heartbeat.applied = now - 5min;
  FleetHost behind = host_of("web3");
  behind.heartbeat.clock_offset = -12s;
  CHECK(texts_of({reload, outdated, behind}) ==
        Texts{"clock|web3|web3: its clock is 12s behind the clock of Redis; correct it",
              "config_outdated|web1|web1: reload failed 12s ago: feeds.concurrency: must be a "
              "number",
              "config_outdated|web2|web2: its config is outdated, applied 5m ago; update its file, "
              "then: w8yctl reload --host web2"});
}

TEST_CASE("a list is a problem if a host is ineligible and no host serves it") {
  FleetHost one = host_of("web1");
  FleetHost two = host_of("web2");
  one.lists = {list_of("cameras", ListState::ineligible, "lacks \"gpu\""),
               list_of("feeds", ListState::ineligible, "not found")};
  two.lists = {list_of("cameras", ListState::disabled), list_of("feeds", ListState::paused)};
  CHECK(texts_of({one, two}) == Texts{"ineligible||no host serves cameras: web1: lacks \"gpu\""});
  one.lists.push_back(list_of("doors", ListState::ineligible, "lacks \"gpu\""));
  CHECK(texts_of({one, two}) ==
        Texts{"ineligible||no host serves cameras and doors: web1: lacks \"gpu\""});
  two.unresponsive = true;  // its list reports no longer count
  two.last_heartbeat = now - 30s;
  CHECK(texts_of({one, two}).size() == 3);
}

}  // namespace fleet_problems_test
