// Other hosts in the stream of a page.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "page_support.hpp"

using namespace w8y;
using namespace w8y::ops;
using namespace w8y::http;
using namespace w8y::api;
using namespace w8y::page;
using namespace w8y::ops::test;

namespace page_fleet_test {

TEST_CASE("run counts of another host arrive in pieces, after its lists") {
  LiveFixture f;
  f.control.add("a");
  FleetHost own;
  own.heartbeat.id = "alpha-0123abcd";
  FleetHost other;
  other.heartbeat.id = "beta-00000000";
  other.heartbeat.lists_version = 1;
  for (int i = 0; i < 2000; ++i) {
    ListStatus list;
    list.prefix = "list-" + std::to_string(i);
    list.state = ListState::idle;
    other.lists.push_back(list);
  }
  f.fleet.view.hosts = {own, other};
  auto& told = f.fleet.minutes["beta-00000000"];
  for (int minute = 0; minute < 60; ++minute) {
    std::string lists;
    for (int i = 0; i < 500; ++i)
      lists += (i > 0 ? "," : "") + std::string(R"({"list":"list-)") + std::to_string(i) +
               R"(","runs":1,"failed":0})";
    told.emplace_back(29'000'000 + minute, R"({"minute":)" + std::to_string(29'000'000 + minute) +
                                               R"(,"runs":500,"failed":0,"lists":[)" + lists +
                                               "]}");
  }
  const auto first = f.open();
  REQUIRE(f.until([&] { return first->text.find("29000059") != std::string::npos; }));
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->count("ready") == 1; }));
  const std::string& text = page->text;
  CHECK(text.find(R"("list":"list-1999","state")") < text.find(R"("minute":)"));
  for (int minute = 0; minute < 60; ++minute)
    CHECK(text.find(R"("minute":)" + std::to_string(29'000'000 + minute)) != std::string::npos);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("\n\n", at), text.size());
    longest = std::max(longest, end - at);
    at = end + 2;
  }
  CHECK(longest < 120'000);
}

TEST_CASE("a page receives lists and run counts of other hosts") {
  LiveFixture f;
  f.control.add("a");
  FleetHost own;
  own.heartbeat.host = "alpha";
  own.heartbeat.id = "alpha-0123abcd";
  FleetHost other;
  other.heartbeat.host = "beta";
  other.heartbeat.id = "beta-00000000";
  other.heartbeat.lists_version = 1;
  ListStatus list;
  list.prefix = "a";
  list.state = ListState::running;
  list.running = 2;
  other.lists = {list};
  f.fleet.view.hosts = {own, other};
  f.fleet.minutes["beta-00000000"] = {
      {29'000'000, R"({"minute":29000000,"runs":5,"failed":1,"lists":[]})"}};
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->text.find("beta-00000000") != std::string::npos; }));
  REQUIRE(f.until([&] { return page->text.find("\"remote\"") != std::string::npos; }));
  CHECK(page->text.find(R"("running":2)") != std::string::npos);
  REQUIRE(f.until([&] { return page->text.find("29000000") != std::string::npos; }));
  const auto second = f.open();
  REQUIRE(f.until([&] { return second->count("ready") == 1; }));
  CHECK(second->text.find("\"remote\"") != std::string::npos);
  CHECK(second->text.find("29000000") != std::string::npos);
}

TEST_CASE("a page receives lists of other hosts again after the fleet could not be read") {
  LiveFixture f;
  f.control.add("a");
  FleetHost other;
  other.heartbeat.id = "beta-00000000";
  other.heartbeat.lists_version = 1;
  ListStatus list;
  list.prefix = "moved";
  other.lists = {list};
  f.fleet.view.hosts = {other};
  const auto page = f.open();
  REQUIRE(f.until([&] { return page->text.find("moved") != std::string::npos; }));
  FleetView none;
  none.error = "no rights";
  std::swap(f.fleet.view, none);
  REQUIRE(f.until([&] { return page->text.find("no rights") != std::string::npos; }));
  page->text.clear();
  std::swap(f.fleet.view, none);
  CHECK(f.until([&] { return page->text.find("moved") != std::string::npos; }));
}

TEST_CASE(
    "a page receives as many hosts as its stream can hold, and queries details of no others") {
  LiveFixture f;
  f.control.add("a");
  for (int i = 0; i < 2000; ++i) {
    FleetHost host;
    host.heartbeat.host = "host-" + std::to_string(10'000 + i);
    host.heartbeat.id = host.heartbeat.host + "-00000000";
    host.heartbeat.state = "running";
    host.heartbeat.config_hash = std::string(64, 'a');
    host.heartbeat.lists_version = 1;
    f.fleet.view.hosts.push_back(host);
  }
  const std::size_t shown = glance_of(f.fleet.view).hosts.size();
  CHECK(shown > 200);
  CHECK(shown < 400);
  const auto page = f.open();
  REQUIRE(f.until([&] { return f.fleet.queries > 1; }));
  CHECK(page->text.find(R"("more_hosts":)" + std::to_string(2000 - shown)) != std::string::npos);
  CHECK(page->text.find(std::to_string(2000 - shown) + " more hosts are not shown") !=
        std::string::npos);
  CHECK(page->text.find("host-11999") == std::string::npos);
  CHECK(page->text.find(R"("fleet":)") != std::string::npos);
  CHECK(std::ranges::all_of(f.fleet.wishes, [&](const view::HostWish& wish) {
    return wish.id < f.fleet.view.hosts[shown].heartbeat.id;
  }));
  std::set<std::string> asked;
  for (const view::HostWish& wish : f.fleet.wishes)
    if (wish.rows) asked.insert(wish.id);
  CHECK(asked.size() == shown);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < page->text.size();) {
    const auto end = std::min(page->text.find("\n\n", at), page->text.size());
    longest = std::max(longest, end - at);
    at = end + 2;
  }
  CHECK(longest < 256 * 1024);  // HttpLimits::stream
}

TEST_CASE("a host with more lists than the limit of a page shows none, and is not queried again") {
  LiveFixture f;
  f.control.add("a");
  FleetHost large;
  large.heartbeat.id = "large-00000000";
  large.heartbeat.lists_version = 1;
  for (int i = 0; i < 50'001; ++i) {
    ListStatus list;
    list.prefix = "list-" + std::to_string(i);
    large.lists.push_back(list);
  }
  FleetHost small;
  small.heartbeat.id = "small-00000000";
  small.heartbeat.lists_version = 1;
  small.lists.push_back(large.lists.front());
  f.fleet.view.hosts = {large, small};
  const auto page = f.open();
  REQUIRE(f.until([&] { return f.fleet.queries > 2; }));
  CHECK(page->text.find("list-0\"") != std::string::npos);
  CHECK(page->text.find("list-1\"") == std::string::npos);
  CHECK(std::ranges::count_if(f.fleet.wishes,
                              [](const view::HostWish& wish) { return wish.rows; }) == 2);
}

}  // namespace page_fleet_test
