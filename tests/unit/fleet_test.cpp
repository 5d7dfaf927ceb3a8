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

HostBeat some_beat() {
  HostBeat beat;
  beat.format = 3;
  beat.host = "alpha";
  beat.pid = 17;
  beat.version = "1.2";
  beat.state = "running";
  beat.started = 1000ms;
  beat.config_hash = "0123456789abcdef";
  beat.generation = 3;
  beat.applied = 2000ms;
  beat.processors = 8;
  beat.slots_used = 2;
  beat.slots_limit = 10;
  beat.lease_margin = -5ms;
  beat.lists_version = 9;
  return beat;
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
  host.beat.host = name;
  host.beat.id = name + "-00000000";
  host.beat.state = "running";
  host.beat.generation = 1;
  host.beat.config_hash = hash;
  host.beat.applied = applied;
  host.last_beat = last;
  return host;
}

std::set<std::string> told(ToldLists& lists, std::size_t most = 100, bool lively = false) {
  std::set<std::string> prefixes;
  for (const auto& change : lists.take(most, lively))
    prefixes.insert(change.text.empty() ? "-" + change.prefix : change.prefix);
  return prefixes;
}

const std::set<std::string> nothing;

}  // namespace

TEST_CASE("fleet: a beat is read as it was written, and never longer than 4 KiB") {
  HostBeat beat = some_beat();
  CHECK(parse_beat(to_text(beat)) == beat);
  beat.lease_margin.reset();
  beat.min_lease_margin = 12ms;
  CHECK(parse_beat(to_text(beat)) == beat);

  for (const std::string& name : {std::string(100'000, 'x'), std::string(100'000, '\x01'),
                                  std::string(100'000, '"'), std::string(100'000, '\xff')}) {
    beat.host = beat.version = beat.config_hash = name;
    const std::string text = to_text(beat);
    CHECK(text.size() <= max_beat);
    CHECK(parse_beat(text).has_value());
    ListStatus list = some_list();
    list.why = list.probed = list.executor_version = name;
    list.caps.assign(1000, name);
    const std::string report = view::to_json(list, view::report);
    CHECK(report.size() <= max_beat);
    CHECK(view::read_report("work", report).has_value());
  }
}

TEST_CASE("fleet: what others have written is no beat, or has what can be had of it") {
  for (const std::string& text :
       {""s, "x"s, "null"s, "[]"s, "{}"s, "17"s, R"({"host":"a"})"s, R"({"state":"running"})"s,
        R"({"host":1,"state":"running"})"s, R"({"host":"a","state":"running")"s,
        "{\"host\":\"\xff\",\"state\":\"running\"}"s, std::string(5000, ' '),
        R"({"host":"a","state":"running","x":")" + std::string(5000, 'x') + "\"}",
        std::string(2000, '[') + std::string(2000, ']')}) {
    CAPTURE(escape(text.substr(0, 100)));
    CHECK_FALSE(parse_beat(text).has_value());
  }
  const auto odd = parse_beat(
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

TEST_CASE(
    "fleet: a beat with a number out of range has none in its place, and judging it is safe") {
  FleetView view;
  view.now = 1'700'000'000'000ms;
  for (const char* number : {"9223372036854775807", "1152921504606846976", "1e300", "-1",
                             "-9223372036854775808", "253402300800000"}) {
    CAPTURE(number);
    const auto beat =
        parse_beat(R"({"host":"a","state":"running","generation":1,"config_hash":"x",)"
                   R"("applied_ms":)"s +
                   number + R"(,"started_ms":)" + number + R"(,"processors":)" + number + "}");
    REQUIRE(beat.has_value());
    CHECK(beat->applied == 0ms);
    CHECK(beat->started == 0ms);
    view.hosts.push_back(host_at("a", view.now));
    view.hosts.back().beat = *beat;
  }
  view.hosts.push_back(host_at("b", view.now, "y", view.now - 2min));
  const auto last =
      parse_beat(R"({"host":"c","state":"running","generation":1,"applied_ms":253402300799999})");
  view.hosts.push_back(host_at("c", view.now));
  view.hosts.back().beat = *last;
  judge(view);
  CHECK(view.latest_config_hash == "y");
}

TEST_CASE("fleet: what is told of a list is read again") {
  const ListStatus list = some_list("a\xff");
  const std::string report = view::to_json(list, view::report);
  const auto read = view::read_report("a\xff", report);
  REQUIRE(read);
  CHECK(read->prefix == list.prefix);
  CHECK(view::to_json(*read, view::report) == report);
}

TEST_CASE("fleet: only lists that have changed are told") {
  ToldLists lists;
  lists.begin();
  lists.note(some_list("a"));
  lists.note(some_list("b"));
  lists.end();
  CHECK(lists.urgent());
  CHECK(told(lists) == std::set<std::string>{"a", "b"});
  CHECK_FALSE(lists.urgent());

  lists.begin();
  lists.note(some_list("a"));
  ListStatus refused = some_list("b");
  refused.state = ListState::refused;
  refused.why = "not found";
  lists.note(refused);
  lists.end();
  CHECK(told(lists, 100, true) == std::set<std::string>{"b"});

  lists.begin();  // a is gone
  lists.note(refused);
  lists.end();
  CHECK(lists.urgent());
  CHECK(told(lists) == std::set<std::string>{"-a"});
  CHECK(lists.size() == 1);
  CHECK(told(lists, 100, true) == nothing);

  lists.note(some_list("a"));  // back
  CHECK(told(lists) == std::set<std::string>{"a"});
  lists.forget();
  CHECK_FALSE(lists.urgent());
  lists.note(some_list("a"));
  CHECK(told(lists) == std::set<std::string>{"a"});
}

TEST_CASE("fleet: that runs come and go is told with what else there is to do, not by itself") {
  ToldLists lists;
  lists.note(some_list());
  told(lists);
  ListStatus busy = some_list();
  busy.state = ListState::running;
  busy.why.clear();
  busy.running = 3;
  lists.note(busy);
  CHECK_FALSE(lists.urgent());
  CHECK(told(lists) == nothing);
  CHECK(told(lists, 100, true) == std::set<std::string>{"work"});
  CHECK(told(lists, 100, true) == nothing);

  busy.concurrency = 9;
  lists.note(busy);
  CHECK(lists.urgent());
  ListStatus paused = busy;
  paused.state = ListState::paused;
  paused.why = "deploy";
  told(lists);
  lists.note(paused);
  CHECK(lists.urgent());
}

TEST_CASE("fleet: many lists are told some at a time, and each once") {
  ToldLists lists;
  lists.begin();
  for (int i = 0; i < 250; ++i) lists.note(some_list("l" + std::to_string(i)));
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

TEST_CASE("fleet: a beat in ten seconds, news within half a second, one at a time") {
  const Instant start{1000s};
  BeatTimes times;
  CHECK_FALSE(times.due().has_value());
  times.asked(start);
  CHECK_FALSE(times.due().has_value());
  times.connected(start);
  CHECK(times.due() == start);
  times.begun(start);
  CHECK_FALSE(times.due().has_value());
  times.answered(false);
  CHECK(times.due() == start + 10s);

  // News, and more of them at once: one beat.
  times.asked(start + 3s);
  times.asked(start + 3s + 10ms);
  CHECK(times.due() == start + 3s + 50ms);
  times.begun(start + 3s + 50ms);
  times.asked(start + 3s + 60ms);  // while it is under way
  CHECK_FALSE(times.due().has_value());
  times.answered(false);
  CHECK(times.due() == start + 3s + 550ms);
  times.begun(start + 3s + 550ms);
  times.answered(false);
  times.asked(start + 3s + 600ms);  // not at once again
  CHECK(times.due() == start + 4s + 50ms);

  // Redis goes away under way, and is back.
  times.begun(start + 5s);
  times.disconnected();
  times.asked(start + 6s);
  CHECK_FALSE(times.due().has_value());
  times.connected(start + 100s);
  CHECK(times.due() == start + 100s);

  // Refused: once more soon, and then not before rights may have changed.
  times.begun(start + 100s);
  times.answered(true);
  CHECK(times.due() == start + 103s);
  times.begun(start + 103s);
  times.answered(true);
  CHECK(times.due() == start + 163s);
  times.begun(start + 163s);
  times.answered(false);
  CHECK(times.due() == start + 173s);
  times.begun(start + 173s);
  times.answered(true);
  CHECK(times.due() == start + 176s);
}

TEST_CASE("fleet: Redis's time is told by our clock that does not jump") {
  RedisTime time;
  CHECK_FALSE(time.known());
  const Instant start{500s};
  time.note(1'000'000ms, start, start + 20ms);
  CHECK(time.known());
  CHECK(time.at(start + 10ms) == 1'000'000ms);
  CHECK(time.at(start + 10ms + 5s) == 1'005'000ms);
  CHECK(time.at(start + 10ms - 5s) == 995'000ms);    // of what was before
  time.note(9'000'000ms, start + 10s, start + 10s);  // another server's clock
  CHECK(time.at(start + 11s) == 9'001'000ms);
}

TEST_CASE("fleet: who is silent, and since when") {
  FleetView view;
  view.now = 1'000'000ms;
  view.hosts = {host_at("beta", view.now - 24s), host_at("alpha", view.now - 25s)};
  judge(view);
  REQUIRE(view.hosts.size() == 2);
  CHECK(view.hosts[0].beat.host == "alpha");
  CHECK(view.hosts[0].silent);
  CHECK(view.hosts[0].state() == "unresponsive"s);
  CHECK_FALSE(view.hosts[1].silent);
  CHECK(view.hosts[1].state() == "running"s);
}

TEST_CASE("fleet: who is behind") {
  const WallTime now = 10'000'000ms;
  const auto behind = [&](std::vector<FleetHost> hosts) {
    FleetView view;
    view.now = now;
    view.hosts = std::move(hosts);
    judge(view);
    std::set<std::string> names;
    for (const auto& host : view.hosts)
      if (host.behind) names.insert(host.beat.host);
    return names;
  };
  // Another applied a different one later, more than a minute ago.
  CHECK(behind({host_at("alpha", now, "old", now - 1h), host_at("beta", now, "new", now - 61s)}) ==
        std::set<std::string>{"alpha"});
  CHECK(behind({host_at("alpha", now, "old", now - 1h), host_at("beta", now, "new", now - 59s)}) ==
        nothing);
  CHECK(behind({host_at("alpha", now, "same", now - 1h), host_at("beta", now, "same", now - 2h)}) ==
        nothing);
  // Back to the old one: who still has the new one is behind.
  CHECK(behind({host_at("alpha", now, "old", now - 2min), host_at("beta", now, "new", now - 1h)}) ==
        std::set<std::string>{"beta"});
  // Not in force yet; in the future, by somebody's garbage; not readable.
  FleetHost starting = host_at("gamma", now, "", 0ms);
  starting.beat.generation = 0;
  FleetHost unread = host_at("delta", now, "z", now - 5min);
  unread.trouble = "none";
  CHECK(behind({host_at("alpha", now, "old", now - 1h), starting, unread,
                host_at("beta", now, "new", now + 1h)}) == nothing);
}

TEST_CASE("fleet: two hosts of one name, and hosts that can't be read") {
  FleetView view;
  view.now = 1'000'000ms;
  FleetHost second = host_at("alpha", view.now);
  second.beat.id = "alpha-11111111";
  FleetHost gone = host_at("alpha", view.now - 40s);
  gone.beat.id = "alpha-22222222";
  FleetHost unread = host_at("beta", view.now);
  unread.trouble = "what stands for its beat is none";
  view.hosts = {host_at("alpha", view.now), second, gone, unread, host_at("gamma", view.now)};
  judge(view);
  CHECK(view.hosts[0].duplicate_name);
  CHECK(view.hosts[1].duplicate_name);
  CHECK_FALSE(view.hosts[2].duplicate_name);  // it is only the one before
  CHECK(view.hosts[3].state() == "unknown"s);
  CHECK_FALSE(view.hosts[4].duplicate_name);
}

TEST_CASE(
    "fleet: who was killed and started again is unresponsive, and no other host of its name") {
  FleetView view;
  view.now = 1'000'000ms;
  FleetHost killed = host_at("alpha", view.now - 9s);
  killed.beat.started = view.now - 1h;
  FleetHost again = host_at("alpha", view.now);
  again.beat.id = "alpha-11111111";
  again.beat.started = view.now - 2s;
  view.hosts = {killed, again};
  judge(view);
  CHECK(view.hosts[0].state() == "unresponsive"s);
  CHECK(view.hosts[1].state() == "running"s);
  CHECK_FALSE(view.hosts[1].duplicate_name);

  view.hosts = {killed, again};
  view.hosts[0].last_beat = view.now - 1s;  // it is still there
  judge(view);
  CHECK(view.hosts[0].duplicate_name);
  CHECK(view.hosts[1].duplicate_name);

  // Three of one name, two of which started at the same time.
  FleetHost twin = again;
  twin.beat.id = "alpha-22222222";
  again.last_beat = view.now - 5s;
  view.hosts = {killed, again, twin};
  judge(view);
  CHECK(view.hosts[0].silent);
  CHECK(view.hosts[1].silent);  // it has not beaten since its twin started
  CHECK_FALSE(view.hosts[2].silent);
}

TEST_CASE("fleet: a host gives way to a live host of another format that started earlier") {
  const WallTime now = 1'000'000ms;
  HostBeat own;
  own.id = "beta-00000002";
  own.started = now - 1min;
  const auto conflict = [&](unsigned format, WallTime started, WallTime last_beat,
                            const std::string& id = "alpha-00000001") {
    FleetView view;
    view.now = now;
    FleetHost other = host_at("alpha", last_beat);
    other.beat.id = id;
    other.beat.format = format;
    other.beat.started = started;
    view.hosts = {other};
    judge(view);
    return format_conflict(view, &own);
  };
  const std::string earlier = "host alpha uses format 0; stop or upgrade it";
  CHECK(conflict(0, now - 2min, now) == earlier);
  CHECK(conflict(fleet_format, now - 2min, now).empty());
  CHECK(conflict(0, now - 30s, now).empty());
  CHECK(conflict(0, now - 2min, now - 30s).empty());  // it is unresponsive
  // Both started at the same time: the smaller ID counts as earlier.
  CHECK(conflict(2, own.started, now) == "host alpha uses format 2; stop it, or upgrade this host");
  CHECK(conflict(2, own.started, now, "gamma-00000003").empty());

  FleetView view;
  view.now = now;
  view.hosts = {host_at("late", now), host_at("unread", now)};
  view.hosts[0].beat.started = now;
  view.hosts[1].trouble = "it is no JSON";
  CHECK(format_conflict(view, nullptr) == "host late uses format 0; stop or upgrade it");
  view.hosts.front().beat.format = fleet_format;
  CHECK(format_conflict(view, nullptr).empty());
}

TEST_CASE("fleet: the name in a host id") {
  CHECK(name_in_host_id("web-1-0123abcd") == "web-1");
  CHECK(name_in_host_id("web-1") == "web-1");
  CHECK(name_in_host_id("-0123abcd") == "-0123abcd");
  CHECK(name_in_host_id("") == "");
}

}  // namespace fleet_test
