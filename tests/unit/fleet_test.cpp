#include "view/fleet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/escape.hpp"
#include "view/list_view.hpp"

using namespace w8y;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace fleet_test {
namespace {

HostHeartbeat some_heartbeat() {
  HostHeartbeat heartbeat;
  heartbeat.format = 3;
  heartbeat.host = "alpha";
  heartbeat.pid = 17;
  heartbeat.version = "1.2";
  heartbeat.state = "running";
  heartbeat.started = 1000ms;
  heartbeat.config_hash = "0123456789abcdef";
  heartbeat.generation = 3;
  heartbeat.applied = 2000ms;
  heartbeat.processors = 8;
  heartbeat.slots_used = 2;
  heartbeat.slots_limit = 10;
  heartbeat.lease_margin = -5ms;
  heartbeat.lists_version = 9;
  return heartbeat;
}

ListStatus some_list(const std::string& prefix = "work") {
  ListStatus list;
  list.prefix = prefix;
  list.state = ListState::idle;
  list.why = "no items";
  list.probed = "/opt/films";
  list.caps = {"single", "gpu"};
  list.executor_version = "7";
  list.concurrency = 4;
  return list;
}

FleetHost host_at(const std::string& name, WallTime last, const std::string& hash = "a",
                  WallTime applied = 1ms) {
  FleetHost host;
  host.heartbeat.host = name;
  host.heartbeat.id = name + "-00000000";
  host.heartbeat.state = "running";
  host.heartbeat.generation = 1;
  host.heartbeat.config_hash = hash;
  host.heartbeat.applied = applied;
  host.last_heartbeat = last;
  return host;
}

std::set<std::string> told(ListReportTracker& lists, std::size_t most = 100, bool lively = false) {
  std::set<std::string> prefixes;
  for (const auto& change : lists.drain(most, lively))
    prefixes.insert(change.text.empty() ? "-" + change.prefix : change.prefix);
  return prefixes;
}

const std::set<std::string> nothing;

}  // namespace

TEST_CASE("fleet: a heartbeat is parsed as it was written, and never exceeds 4 KiB") {
  HostHeartbeat heartbeat = some_heartbeat();
  CHECK(parse_heartbeat(to_text(heartbeat)) == heartbeat);
  heartbeat.lease_margin.reset();
  heartbeat.min_lease_margin = 12ms;
  CHECK(parse_heartbeat(to_text(heartbeat)) == heartbeat);

  for (const std::string& name : {std::string(100'000, 'x'), std::string(100'000, '\x01'),
                                  std::string(100'000, '"'), std::string(100'000, '\xff')}) {
    heartbeat.host = heartbeat.version = heartbeat.config_hash = name;
    const std::string text = to_text(heartbeat);
    CHECK(text.size() <= max_heartbeat);
    CHECK(parse_heartbeat(text).has_value());
    ListStatus list = some_list();
    list.why = list.probed = list.executor_version = name;
    list.caps.assign(1000, name);
    const std::string report = view::to_json(list, view::report);
    CHECK(report.size() <= max_heartbeat);
    CHECK(view::read_report("work", report).has_value());
  }
}

TEST_CASE("fleet: invalid text is no heartbeat, and invalid fields of a heartbeat are ignored") {
  for (const std::string& text :
       {""s, "x"s, "null"s, "[]"s, "{}"s, "17"s, R"({"host":"a"})"s, R"({"state":"running"})"s,
        R"({"host":1,"state":"running"})"s, R"({"host":"a","state":"running")"s,
        "{\"host\":\"\xff\",\"state\":\"running\"}"s, std::string(5000, ' '),
        R"({"host":"a","state":"running","x":")" + std::string(5000, 'x') + "\"}",
        std::string(2000, '[') + std::string(2000, ']')}) {
    CAPTURE(escape(text.substr(0, 100)));
    CHECK_FALSE(parse_heartbeat(text).has_value());
  }
  const auto odd = parse_heartbeat(
      R"({"host":"a","state":"dancing","pid":-1,"generation":1e99,"processors":99999999999,)"
      R"("applied_ms":-5,"slots_used":"3","lease_margin_ms":1.5,"started_ms":18446744073709551615})");
  REQUIRE(odd.has_value());
  CHECK(odd->pid == 0);
  CHECK(odd->generation == 0);
  CHECK(odd->processors == 0);
  CHECK(odd->applied == 0ms);
  CHECK(odd->started == 0ms);
  CHECK_FALSE(odd->lease_margin.has_value());
  CHECK_FALSE(view::read_report("work", "{}").has_value());
  CHECK_FALSE(view::read_report("work", "\x01").has_value());
  CHECK_FALSE(view::read_report("work", R"({"state":"dancing"})").has_value());
  CHECK(view::read_report("work", R"({"state":"idle","caps":[1,"a",null]})")->caps ==
        std::vector<std::string>{"a"});
}

TEST_CASE("fleet: numbers of a heartbeat that are out of range are ignored") {
  FleetView view;
  view.now = 1'700'000'000'000ms;
  for (const char* number : {"9223372036854775807", "1152921504606846976", "1e300", "-1",
                             "-9223372036854775808", "253402300800000"}) {
    CAPTURE(number);
    const auto heartbeat =
        parse_heartbeat(R"({"host":"a","state":"running","generation":1,"config_hash":"x",)"
                        R"("applied_ms":)"s +
                        number + R"(,"started_ms":)" + number + R"(,"processors":)" + number + "}");
    REQUIRE(heartbeat.has_value());
    CHECK(heartbeat->applied == 0ms);
    CHECK(heartbeat->started == 0ms);
    view.hosts.push_back(host_at("a", view.now));
    view.hosts.back().heartbeat = *heartbeat;
  }
  view.hosts.push_back(host_at("b", view.now, "y", view.now - 2min));
  const auto last = parse_heartbeat(
      R"({"host":"c","state":"running","generation":1,"applied_ms":253402300799999})");
  view.hosts.push_back(host_at("c", view.now));
  view.hosts.back().heartbeat = *last;
  classify(view);
  CHECK(view.latest_config_hash == "y");
}

TEST_CASE("fleet: a list report is parsed as it was written") {
  const ListStatus list = some_list("a\xff");
  const std::string report = view::to_json(list, view::report);
  const auto read = view::read_report("a\xff", report);
  REQUIRE(read);
  CHECK(read->prefix == list.prefix);
  CHECK(view::to_json(*read, view::report) == report);
}

TEST_CASE("fleet: only changed lists are reported") {
  ListReportTracker lists;
  lists.begin();
  lists.record(some_list("a"));
  lists.record(some_list("b"));
  lists.end();
  CHECK(lists.urgent());
  CHECK(told(lists) == std::set<std::string>{"a", "b"});
  CHECK_FALSE(lists.urgent());

  lists.begin();
  lists.record(some_list("a"));
  ListStatus refused = some_list("b");
  refused.state = ListState::ineligible;
  refused.why = "not found";
  lists.record(refused);
  lists.end();
  CHECK(told(lists, 100, true) == std::set<std::string>{"b"});

  lists.begin();  // a is removed
  lists.record(refused);
  lists.end();
  CHECK(lists.urgent());
  CHECK(told(lists) == std::set<std::string>{"-a"});
  CHECK(lists.size() == 1);
  CHECK(told(lists, 100, true) == nothing);

  lists.record(some_list("a"));  // a is available again
  CHECK(told(lists) == std::set<std::string>{"a"});
  lists.forget();
  CHECK_FALSE(lists.urgent());
  lists.record(some_list("a"));
  CHECK(told(lists) == std::set<std::string>{"a"});
}

TEST_CASE("fleet: a changed number of runs is reported with the next report, not by itself") {
  ListReportTracker lists;
  lists.record(some_list());
  told(lists);
  ListStatus busy = some_list();
  busy.state = ListState::running;
  busy.why.clear();
  busy.running = 3;
  lists.record(busy);
  CHECK_FALSE(lists.urgent());
  CHECK(told(lists) == nothing);
  CHECK(told(lists, 100, true) == std::set<std::string>{"work"});
  CHECK(told(lists, 100, true) == nothing);

  busy.concurrency = 9;
  lists.record(busy);
  CHECK(lists.urgent());
  ListStatus paused = busy;
  paused.state = ListState::paused;
  paused.why = "deploy";
  told(lists);
  lists.record(paused);
  CHECK(lists.urgent());
}

TEST_CASE("fleet: reports of many lists are sent in batches, each list once") {
  ListReportTracker lists;
  lists.begin();
  for (int i = 0; i < 250; ++i) lists.record(some_list("l" + std::to_string(i)));
  lists.end();
  std::set<std::string> all;
  for (int i = 0; i < 3; ++i) {
    CHECK(lists.urgent());
    const auto some = told(lists, 100);
    CHECK(some.size() == (i < 2 ? 100 : 50));
    all.insert(some.begin(), some.end());
  }
  CHECK(all.size() == 250);
  CHECK_FALSE(lists.urgent());
}

TEST_CASE("fleet: heartbeats are sent every 10 s, changes within 500 ms, one at a time") {
  const Instant start{1000s};
  HeartbeatTimer times;
  CHECK_FALSE(times.due().has_value());
  times.on_request(start);
  CHECK_FALSE(times.due().has_value());
  times.connected(start);
  CHECK(times.due() == start);
  times.started(start);
  CHECK_FALSE(times.due().has_value());
  times.on_reply(false);
  CHECK(times.due() == start + 10s);

  // Several changes at once cause one heartbeat.
  times.on_request(start + 3s);
  times.on_request(start + 3s + 10ms);
  CHECK(times.due() == start + 3s + 50ms);
  times.started(start + 3s + 50ms);
  times.on_request(start + 3s + 60ms);  // while a heartbeat is in flight
  CHECK_FALSE(times.due().has_value());
  times.on_reply(false);
  CHECK(times.due() == start + 3s + 550ms);
  times.started(start + 3s + 550ms);
  times.on_reply(false);
  times.on_request(start + 3s + 600ms);  // not at once again
  CHECK(times.due() == start + 4s + 50ms);

  // The connection to Redis ends while a heartbeat is in flight, and is restored.
  times.started(start + 5s);
  times.disconnected();
  times.on_request(start + 6s);
  CHECK_FALSE(times.due().has_value());
  times.connected(start + 100s);
  CHECK(times.due() == start + 100s);

  // After a refusal, one retry follows soon. Later ones wait until permissions may have changed.
  times.started(start + 100s);
  times.on_reply(true);
  CHECK(times.due() == start + 103s);
  times.started(start + 103s);
  times.on_reply(true);
  CHECK(times.due() == start + 163s);
  times.started(start + 163s);
  times.on_reply(false);
  CHECK(times.due() == start + 173s);
  times.started(start + 173s);
  times.on_reply(true);
  CHECK(times.due() == start + 176s);
}

TEST_CASE("fleet: the time of Redis is computed from the monotonic clock of this host") {
  RedisClock time;
  CHECK_FALSE(time.known());
  const Instant start{500s};
  time.record(1'000'000ms, start, start + 20ms);
  CHECK(time.known());
  CHECK(time.at(start + 10ms) == 1'000'000ms);
  CHECK(time.at(start + 10ms + 5s) == 1'005'000ms);
  CHECK(time.at(start + 10ms - 5s) == 995'000ms);      // a time before the sample
  time.record(9'000'000ms, start + 10s, start + 10s);  // clock of another server
  CHECK(time.at(start + 11s) == 9'001'000ms);
}

TEST_CASE("fleet: a slow reply does not replace the time of Redis, and is uncertain without one") {
  RedisClock time;
  const Instant start{500s};
  time.record(1'000'000ms, start, start + 4s);
  CHECK(time.at(start + 2s) == 1'000'000ms);
  CHECK(time.earliest_at(start + 4s) == 1'000'000ms);
  time.record(1'010'000ms, start + 10s, start + 10s);
  CHECK(time.earliest_at(start + 10s) == 1'010'000ms);
  time.record(1'020'000ms, start + 20s, start + 24s);
  CHECK(time.at(start + 20s) == 1'020'000ms);
}

TEST_CASE("fleet: a host is unresponsive 25 s after its last heartbeat") {
  FleetView view;
  view.now = 1'000'000ms;
  view.hosts = {host_at("beta", view.now - 24s), host_at("alpha", view.now - 25s)};
  classify(view);
  REQUIRE(view.hosts.size() == 2);
  CHECK(view.hosts[0].heartbeat.host == "alpha");
  CHECK(view.hosts[0].unresponsive);
  CHECK(view.hosts[0].state() == "unresponsive"s);
  CHECK_FALSE(view.hosts[1].unresponsive);
  CHECK(view.hosts[1].state() == "running"s);
}

TEST_CASE("fleet: a host is outdated if another host applied a different config later") {
  const WallTime now = 10'000'000ms;
  const auto behind = [&](std::vector<FleetHost> hosts) {
    FleetView view;
    view.now = now;
    view.hosts = std::move(hosts);
    classify(view);
    std::set<std::string> names;
    for (const auto& host : view.hosts)
      if (host.config_outdated) names.insert(host.heartbeat.host);
    return names;
  };
  // Another host applied a different config later, and more than one minute ago.
  CHECK(behind({host_at("alpha", now, "old", now - 1h), host_at("beta", now, "new", now - 61s)}) ==
        std::set<std::string>{"alpha"});
  CHECK(behind({host_at("alpha", now, "old", now - 1h), host_at("beta", now, "new", now - 59s)}) ==
        nothing);
  CHECK(behind({host_at("alpha", now, "same", now - 1h), host_at("beta", now, "same", now - 2h)}) ==
        nothing);
  // The fleet returns to the old config: a host that still has the new one is outdated.
  CHECK(behind({host_at("alpha", now, "old", now - 2min), host_at("beta", now, "new", now - 1h)}) ==
        std::set<std::string>{"beta"});
  // Configs that do not count: not applied yet, in the future, or not readable.
  FleetHost starting = host_at("gamma", now, "", 0ms);
  starting.heartbeat.generation = 0;
  FleetHost unread = host_at("delta", now, "z", now - 5min);
  unread.error = "none";
  CHECK(behind({host_at("alpha", now, "old", now - 1h), starting, unread,
                host_at("beta", now, "new", now + 1h)}) == nothing);
}

TEST_CASE("fleet: two live hosts of one name are duplicates, and an unreadable host is unknown") {
  FleetView view;
  view.now = 1'000'000ms;
  FleetHost second = host_at("alpha", view.now);
  second.heartbeat.id = "alpha-11111111";
  FleetHost gone = host_at("alpha", view.now - 40s);
  gone.heartbeat.id = "alpha-22222222";
  FleetHost unread = host_at("beta", view.now);
  unread.error = "its heartbeat is not valid";
  view.hosts = {host_at("alpha", view.now), second, gone, unread, host_at("gamma", view.now)};
  classify(view);
  CHECK(view.hosts[0].duplicate_name);
  CHECK(view.hosts[1].duplicate_name);
  CHECK_FALSE(view.hosts[2].duplicate_name);  // the previous w8yd of the same host
  CHECK(view.hosts[3].state() == "unknown"s);
  CHECK_FALSE(view.hosts[4].duplicate_name);
}

TEST_CASE("fleet: the heartbeat of a host that was killed and started again is removed") {
  FleetView view;
  view.now = 1'000'000ms;
  FleetHost killed = host_at("alpha", view.now - 9s);
  killed.heartbeat.started = view.now - 1h;
  FleetHost again = host_at("alpha", view.now);
  again.heartbeat.id = "alpha-11111111";
  again.heartbeat.started = view.now - 2s;
  view.hosts = {killed, again};
  classify(view);
  REQUIRE(view.hosts.size() == 1);
  CHECK(view.hosts[0].heartbeat.id == again.heartbeat.id);
  CHECK(view.hosts[0].state() == "running"s);
  CHECK_FALSE(view.hosts[0].duplicate_name);

  view.hosts = {killed, again};
  view.hosts[0].last_heartbeat = view.now - 1s;  // it still sends heartbeats
  classify(view);
  CHECK(view.hosts[0].duplicate_name);
  CHECK(view.hosts[1].duplicate_name);

  // Three hosts of one name, two of which started at the same time.
  FleetHost twin = again;
  twin.heartbeat.id = "alpha-22222222";
  again.last_heartbeat = view.now - 5s;
  view.hosts = {killed, again, twin};
  classify(view);
  REQUIRE(view.hosts.size() == 1);
  CHECK(view.hosts[0].heartbeat.id ==
        twin.heartbeat.id);  // the other: no heartbeat since its start
}

TEST_CASE("fleet: a live host of another format that started earlier is a conflict") {
  const WallTime now = 1'000'000ms;
  HostHeartbeat own;
  own.id = "beta-00000002";
  own.started = now - 1min;
  const auto conflict = [&](unsigned format, WallTime started, WallTime last_heartbeat,
                            const std::string& id = "alpha-00000001") {
    FleetView view;
    view.now = now;
    FleetHost other = host_at("alpha", last_heartbeat);
    other.heartbeat.id = id;
    other.heartbeat.format = format;
    other.heartbeat.started = started;
    view.hosts = {other};
    classify(view);
    return format_conflict(view, &own);
  };
  const std::string earlier = "host alpha uses fleet format 0; stop or upgrade it";
  CHECK(conflict(0, now - 2min, now) == earlier);
  CHECK(conflict(fleet_format, now - 2min, now).empty());
  CHECK(conflict(0, now - 30s, now).empty());
  CHECK(conflict(0, now - 2min, now - 30s).empty());  // the other host is unresponsive
  // Both started at the same time: the smaller ID counts as earlier.
  CHECK(conflict(2, own.started, now) ==
        "host alpha uses fleet format 2; stop it, or upgrade this host");
  CHECK(conflict(2, own.started, now, "gamma-00000003").empty());

  FleetView view;
  view.now = now;
  view.hosts = {host_at("late", now), host_at("unread", now)};
  view.hosts[0].heartbeat.started = now;
  view.hosts[1].error = "it is no JSON";
  CHECK(format_conflict(view, nullptr) == "host late uses fleet format 0; stop or upgrade it");
  view.hosts.front().heartbeat.format = fleet_format;
  CHECK(format_conflict(view, nullptr).empty());
}

TEST_CASE("fleet: a host ID contains the host name") {
  CHECK(name_in_host_id("web-1-0123abcd") == "web-1");
  CHECK(name_in_host_id("web-1") == "web-1");
  CHECK(name_in_host_id("-0123abcd") == "-0123abcd");
  CHECK(name_in_host_id("") == "");
}

}  // namespace fleet_test
