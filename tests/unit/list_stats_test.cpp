// List statistics as text, statistics of runs, and the number of slots that a list needs.
#include "view/list_stats.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/run_stats.hpp"

using namespace w8y;
using namespace std::chrono_literals;

namespace figures_test {

TEST_CASE("list statistics are parsed as they were written") {
  ListStats stats;
  stats.items = {{"length", 12}, {"free", 3}, {"quarantined", 9}};
  stats.at = WallTime(1'700'000'000'123);
  CHECK(parse_list_stats(to_text(stats)) == stats);
  stats.items = {{"queued", 1}, {"due", 2}, {"bad", 3}, {"died", 4}};
  CHECK(parse_list_stats(to_text(stats)) == stats);
  stats.items = {{"length", 12}, {"free", 3}, {"quarantined", 9}};
  stats.estimated = true;
  stats.cycle = 5s;
  stats.longest_wait = 0s;
  stats.slots = 8;
  stats.slots_needed = 12;
  CHECK(to_text(stats) ==
        R"({"at_ms":1700000000123,"items":{"length":12,"free":3,"quarantined":9},)"
        R"("estimated":true,"cycle_ms":5000,"longest_wait_ms":0,"slots":8,"slots_needed":12})");
  CHECK(parse_list_stats(to_text(stats)) == stats);
}

TEST_CASE("cycle times are kept for 6 hours, one per quarter-hour, whichever host collects them") {
  const WallTime quarter = 15min;
  const WallTime begin = 2'000'000 * quarter;
  std::vector<CycleAt> cycles = cycles_with({}, begin, std::nullopt);
  CHECK(cycles.empty());
  cycles = cycles_with(cycles, begin + 1min, 5s);
  cycles = cycles_with(cycles, begin + 14min, 6s);
  CHECK(cycles == std::vector<CycleAt>{{2'000'000, 6s}});
  cycles = cycles_with(cycles, begin + quarter, std::nullopt);
  cycles = cycles_with(cycles, begin + 2 * quarter, 7s);
  CHECK(cycles == std::vector<CycleAt>{{2'000'000, 6s}, {2'000'002, 7s}});
  ListStats stats;
  stats.at = begin;
  stats.cycles = cycles;
  CHECK(to_text(stats) == R"({"at_ms":1800000000000,"items":{},"cycles":[2000000,6000,0,7000]})");
  CHECK(parse_list_stats(to_text(stats)) == stats);
  CHECK(cycles_with(cycles, begin + cycles_kept * quarter, std::nullopt) ==
        std::vector<CycleAt>{{2'000'002, 7s}});
  // The clock was set back.
  CHECK(cycles_with(cycles, begin, 1s) == std::vector<CycleAt>{{2'000'000, 1s}});
  for (std::int64_t i = 0; i < 100; ++i)
    cycles = cycles_with(cycles, begin + i * quarter, WallTime(999'999'999));
  CHECK(cycles.size() == static_cast<std::size_t>(cycles_kept));
  stats.cycles = cycles;
  CHECK(parse_list_stats(to_text(stats)) == stats);
  for (const char* bad : {"7", "{}", "[]", "[1]", R"(["x",5])", "[1,-5]", "[1,[2]]", "[1e300,5]"}) {
    CAPTURE(bad);
    const auto odd =
        parse_list_stats(R"({"at_ms":1,"items":{},"cycles":)" + std::string(bad) + "}");
    REQUIRE(odd);
    CHECK(odd->cycles.empty());
  }
  std::string many = "[1";
  for (int i = 0; i < 200; ++i) many += ",1";
  const auto cut = parse_list_stats(R"({"at_ms":1,"items":{},"cycles":)" + many + "]}");
  REQUIRE(cut);
  CHECK(cut->cycles.size() == static_cast<std::size_t>(cycles_kept));
}

TEST_CASE("invalid text is refused as list statistics, and invalid fields are ignored") {
  for (const char* text : {"", "x", "[]", "{}", R"({"at_ms":1})", R"({"items":{}})",
                           R"({"at_ms":-1,"items":{}})", R"({"at_ms":"1","items":{}})",
                           R"({"at_ms":1e300,"items":{}})", R"({"at_ms":1,"items":[]})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_list_stats(text));
  }
  CHECK_FALSE(parse_list_stats(R"({"at_ms":1,"items":{},"x":")" + std::string(2000, 'x') + "\"}"));
  const auto odd = parse_list_stats(
      R"({"at_ms":1,"items":{"evil\n":5,"free":-1,"running":2,"resting":"3"},"cycle_ms":[]})");
  REQUIRE(odd);
  CHECK(odd->items == std::vector<ListStats::Count>{{"running", 2}});
  CHECK_FALSE(odd->cycle);
}

TEST_CASE("only responsive hosts with a readable heartbeat are counted") {
  FleetView view;
  view.now = 5s;
  view.hosts.resize(4);
  view.hosts[1].heartbeat.host = "web2";
  view.hosts[1].unresponsive = true;
  view.hosts[2].config_outdated = true;
  view.hosts[3].error = "no heartbeat";
  const auto counts = parse_fleet_counts(to_text(count(view)));
  REQUIRE(counts);
  CHECK(counts->hosts == 2);
  CHECK(counts->outdated == 1);
  CHECK(counts->unresponsive == 1);
  CHECK(counts->at == 5s);
  CHECK_FALSE(parse_fleet_counts("{}"));
}

TEST_CASE("an unresponsive host is counted until a host of its name is live") {
  FleetView view;
  view.hosts.resize(3);
  view.hosts[0].heartbeat.host = "web1";
  view.hosts[1].heartbeat.host = "web2";
  view.hosts[1].unresponsive = true;
  view.hosts[2].heartbeat.host = "web3";
  CHECK(count(view).unresponsive == 1);
  view.hosts[2].heartbeat.host = "web2";
  CHECK(count(view).unresponsive == 0);
  CHECK(count(view).hosts == 2);
}

TEST_CASE("statistics of long lists are collected less often") {
  ListStats stats;
  CHECK(period_of(stats) == stats_period);
  stats.items = {{"length", long_list}};
  CHECK(period_of(stats) == stats_period);
  stats.items[0].items += 1;
  CHECK(period_of(stats) == long_list_period);
}

TEST_CASE("a list needs as many slots as all items take to start in time") {
  CHECK(places_for(0, 1s, 10min) == 1);
  CHECK(places_for(600, 1s, 10min) == 1);
  CHECK(places_for(601, 1s, 10min) == 2);
  CHECK(places_for(1000, 7200ms, 10min) == 12);
  CHECK(places_for(5, 0s, 10min) == 1);
}

TEST_CASE("durations are counted up to and including the bounds of the buckets") {
  CallTimes times;
  times.add(500us);
  times.add(501us);
  times.add(-1s);
  times.add(1h);
  CHECK(times.count(0) == 2);
  CHECK(times.count(1) == 1);
  CHECK(times.count(CallTimes::bounds) == 1);
  CHECK(times.count() == 4);
  CHECK(times.seconds() == doctest::Approx(3600.001001));
  CallTimes more;
  more.add(2ms);
  times += more;
  CHECK(times.count() == 5);
}

}  // namespace figures_test
